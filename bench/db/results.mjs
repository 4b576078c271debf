// What has been measured so far, a run a line: the databases may be measured one by one.
import { readFileSync, writeFileSync } from 'node:fs';
import { median } from 'simple-statistics';
import { DATABASES } from './databases.mjs';
import { KINDS } from './kinds.mjs';

const FILE = new URL('results.jsonl', import.meta.url);

export function loadRuns() {
  try {
    return readFileSync(FILE, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** New runs take the place of those of the same database and kind; what was measured otherwise goes. */
export function saveRuns(fresh) {
  const [{ rows, batch }] = fresh;
  const isReplaced = (run) => fresh.some(({ database, kind }) => database === run.database && kind === run.kind);
  const kept = loadRuns().filter((run) => run.rows === rows && run.batch === batch && !isReplaced(run));
  const runs = [...kept, ...fresh];
  writeFileSync(FILE, runs.map((run) => `${JSON.stringify(run)}\n`).join(''));
  return runs;
}

/** The median of the rounds, in the order of databases and kinds. */
export function summarize(runs) {
  return DATABASES.flatMap(({ name: database, title: databaseTitle }) =>
    KINDS.flatMap(({ name: kind, title: kindTitle }) => {
      const rounds = runs.filter((run) => run.database === database && run.kind === kind);
      return rounds.length === 0 ? [] : [{ ...mid(rounds), databaseTitle, kindTitle, rounds: rounds.length }];
    }),
  );
}

/** Of numbers the median, at any depth; of anything else the first. */
function mid(values) {
  const [first] = values;
  if (typeof first === 'number') return median(values);
  if (Array.isArray(first)) return first.map((_, index) => mid(values.map((value) => value[index])));
  if (typeof first !== 'object') return first;
  return Object.fromEntries(Object.keys(first).map((name) => [name, mid(values.map((value) => value[name]))]));
}
