// Which key is the fastest and the smallest in a database? See README.md of this folder.
import { Command, InvalidArgumentError, Option } from 'commander';
import { SERVERS } from '../parts/databases.mjs';
import { DATABASES } from './databases.mjs';
import { KINDS } from './kinds.mjs';
import { drawPlots } from './plots.mjs';
import { openProgress } from './progress.mjs';
import { loadRuns, saveRuns, summarize } from './results.mjs';
import { runApart } from './run-apart.mjs';
import { printTable, writeTable } from './tables.mjs';

const namesOf = (list) => list.map(({ name }) => name);
const several = (flags, text, list) => new Option(flags, text).choices(namesOf(list)).default(namesOf(list));

const options = new Command('bench:db')
  .description('Compares keys in databases: time to insert, size, reads. Each run has a database of its own.')
  .addOption(several('--db <names...>', 'the databases', DATABASES))
  .addOption(several('--kinds <names...>', 'the kinds of keys', KINDS))
  .option('--rows <count>', 'rows of each run', positive, 1_000_000)
  .option('--batch <count>', 'rows of one insert', positive, 1_000)
  .option('--rounds <count>', 'rounds, each in the opposite order of the one before', positive, 1)
  .option('--mariadb <url>', 'where MariaDB is', SERVERS.mariadb)
  .option('--postgres <url>', 'where PostgreSQL is', SERVERS.postgres)
  .option('--no-save', 'leave bench/db/results.jsonl, the plots and the document as they are')
  .option('--plot', 'measure nothing: draw bench/db/results.jsonl again')
  .option('--json', 'print JSON')
  .parse()
  .opts();

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop.abort());

try {
  const runs = options.plot ? loadRuns() : await measureAll();
  const summaries = summarize(runs);
  if (options.json) console.log(JSON.stringify(summaries));
  else printTable(summaries);
  if (options.save) publish(options.plot ? runs : saveRuns(runs));
} catch (error) {
  if (!stop.signal.aborted) throw error;
  process.exitCode = 130;
}

async function measureAll() {
  const runs = [];
  for (const database of DATABASES.filter(({ name }) => options.db.includes(name))) {
    const kinds = KINDS.filter(({ name }) => options.kinds.includes(name));
    for (let round = 0; round < options.rounds; round++, kinds.reverse()) {
      for (const kind of kinds) runs.push(await measure(database, kind));
    }
  }
  return runs;
}

async function measure(database, kind) {
  const { rows, batch } = options;
  const progress = openProgress(`${database.title}, ${kind.title}`, rows);
  const given = { database: database.name, kind: kind.name, rows, batch, url: options[database.name] };
  try {
    return await runApart(given, { signal: stop.signal, onRows: progress.update });
  } finally {
    progress.stop();
  }
}

function publish(runs) {
  const summaries = summarize(runs);
  writeTable(summaries);
  drawPlots(summaries);
}

function positive(text) {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('a positive whole number');
  return value;
}
