// Every question in a process of its own, then one table. Run: npm run bench; npm run bench:check
import { fork } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Argument, Command, Option } from 'commander';
import { findSlower, readBaseline, writeBaseline } from './parts/baseline.mjs';
import { environment } from './parts/environment.mjs';
import { measureForAMoment } from './parts/moment.mjs';
import { showResults } from './parts/show-results.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const QUESTIONS = readdirSync(here('questions')).map((file) => file.replace('.mjs', ''));

const command = new Command('bench')
  .description('Measures what Raindrop promises in speed. The ratios are what carries over to other machines.')
  .addArgument(new Argument('[questions...]', 'only these').choices(QUESTIONS).default(QUESTIONS))
  .option('--json', 'JSON in place of the tables')
  .option('--check', 'compare the ratios with those that are stored; exit code 1 when one is much worse')
  .option('--save', 'store the ratios for --check')
  .addOption(
    new Option('--moment', 'measure for a moment, to see that everything runs: the figures mean nothing').conflicts([
      'check',
      'save',
    ]),
  )
  .parse();
const { json, check, save, moment } = command.opts();
const [questions] = command.processedArgs;

if (moment) measureForAMoment();
const results = {};
for (const name of questions) results[name] = await ask(name);
console.log(json ? JSON.stringify({ environment: environment(), results }, null, 2) : showResults(results));
if (save) writeBaseline(results);
if (check) await checkAgainst(readBaseline());

/** What is slower is measured once more: only what is slower both times counts. */
async function checkAgainst(baseline) {
  const suspects = new Set(findSlower(results, baseline).map(({ question }) => question));
  const again = {};
  for (const name of suspects) again[name] = await ask(name);
  const slower = findSlower(again, baseline);
  for (const { question, name, value, stored } of slower) {
    console.error(`FAILED ${question}: ${name} is ${value.toFixed(2)}, was ${stored.toFixed(2)}`);
  }
  if (slower.length > 0) process.exitCode = 1;
  else console.error(`Every ratio is about what is stored, or better.`);
}

async function ask(name) {
  const begun = performance.now();
  const child = fork(here('parts/ask.mjs'), [here(`questions/${name}.mjs`)], { execArgv: ['--expose-gc'] });
  let result;
  child.on('message', (message) => (result = message));
  const [code] = await once(child, 'exit');
  if (code !== 0 || result === undefined) throw new Error(`${name} could not be measured`);
  if (process.stderr.isTTY) console.error(`${name}: ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
  return result;
}
