import { Command, Option } from 'commander';
import { inWords } from './acts.js';
import { search, type SearchResult } from './search.js';
import { type NamedSearch, SEARCHES } from './searches.js';

interface Flags {
  readonly seconds: number;
  readonly depth: number;
  readonly only?: string;
  readonly most: number;
  readonly json?: boolean;
}

const flags = new Command('schedules')
  .description('All schedules of a few acts, the shortest first, in virtual time, on the real keeper and generator.')
  .option('--seconds <n>', 'how long all searches may take together', Number, 60)
  .option('--depth <n>', 'the most acts in a schedule', Number, 20)
  .option('--most <n>', 'how many schedules that repeat an ID end a search', Number, 3)
  .option('--json', 'print one line of JSON for each search')
  .addOption(new Option('--only <name>', 'one search').choices(Object.keys(SEARCHES)))
  .parse()
  .opts<Flags>();

async function main(): Promise<void> {
  const chosen = Object.entries(SEARCHES).filter(([name]) => flags.only === undefined || flags.only === name);
  let secondsLeft = flags.seconds;
  for (const [place, [name, each]] of chosen.entries()) {
    // What one search leaves of its share, the next ones have.
    const seconds = secondsLeft / (chosen.length - place);
    const result = await search(each, { depth: flags.depth, seconds, findings: flags.most });
    secondsLeft -= result.seconds;
    const hasRepeat = result.findings.length > 0;
    // A search whose time was over before may have missed the repeat.
    const mayBeLater = each.finds === 'a repeat' && result.depth < each.depth;
    const isAsExpected = hasRepeat === (each.finds === 'a repeat') || (!hasRepeat && mayBeLater);
    if (!isAsExpected) process.exitCode = 1;
    process.stdout.write(flags.json === true ? asJson(name, result) : asText(name, each, result, isAsExpected));
  }
}

function asJson(name: string, { findings, ...figures }: SearchResult): string {
  const repeats = findings.map(({ acts }) => acts.map(inWords));
  return `${JSON.stringify({ search: name, ...figures, seconds: rounded(figures.seconds), repeats })}\n`;
}

function asText(name: string, { about, finds }: NamedSearch, result: SearchResult, isAsExpected: boolean): string {
  const { findings, schedules, states, depth, unconfirmed, seconds } = result;
  const steps = findings.map(
    ({ acts, id, afterMs }) =>
      `  ${acts.length} acts, and ${afterMs} ms later ID ${id} comes again:\n` +
      acts.map((act) => `    ${inWords(act)}\n`).join(''),
  );
  return [
    `${name}: ${about}\n`,
    `  ${schedules} schedules, ${states} states, all of ${depth} acts, ${rounded(seconds)} s, ${unconfirmed} unconfirmed\n`,
    ...steps,
    `  ${isAsExpected ? 'as expected' : 'FAILED'}: ${finds} was to be found\n\n`,
  ].join('');
}

const rounded = (seconds: number): number => Math.round(seconds * 10) / 10;

void main();
