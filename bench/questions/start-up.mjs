// Fresh processes, since an application starts once in each: modules are loaded, nothing is compiled yet.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median } from 'simple-statistics';
import { openDatabases } from '../parts/databases.mjs';

export const question = 'How long does it take from the module’s start to the first ID, on a warm worker table?';

const ROUNDS = 4;
const TARGET_MS = 50;
/** Bits for worker ids: a row each. */
const [MANY, FEW] = [10, 6];
const ONE_START = fileURLToPath(new URL('../parts/one-start.mjs', import.meta.url));

export async function measure() {
  const { databases, missing } = await openDatabases();
  try {
    const starts = databases.map(() => ({ own: [], host: [], few: [] }));
    // The first creates and fills the table.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [index, { options }] of databases.entries()) {
        for (const form of ['own', 'host']) {
          const start = await startOnce(form, options);
          if (round > 0) starts[index][form].push(start);
        }
        const start = await startOnce('own', options, FEW);
        if (round > 0) starts[index].few.push(start);
      }
    }
    const results = databases.map((database, index) => resultsOf(database, starts[index]));
    const absent = missing.map((name) => ({
      name,
      value: NaN,
      unit: 'ms',
      note: 'no server on its usual port: left out',
    }));
    return {
      figures: [...results.flatMap(({ figures }) => figures), ...absent],
      ratios: results.flatMap(({ ratios }) => ratios),
    };
  } finally {
    await Promise.all(databases.map(({ drop }) => drop()));
  }
}

async function startOnce(form, options, bits = MANY) {
  const parameters = [ONE_START, form, JSON.stringify(options), String(bits)];
  const { stdout } = await promisify(execFile)(process.execPath, parameters);
  return JSON.parse(stdout);
}

function resultsOf({ name, options }, { own, host, few }) {
  const middle = (starts, of) => median(starts.map(of));
  const share = (starts) => ({ value: middle(starts, ({ moduleMs }) => moduleMs), unit: 'ms', atMost: TARGET_MS });
  const whole = (starts) => ({
    value: middle(starts, ({ appMs }) => appMs),
    unit: 'ms',
    note: 'with Nest and TypeORM',
  });
  const figures = [
    { name: `${name}: module to first ID, a DataSource of its own, 63 workers`, ...share(few) },
    { name: `${name}: module to first ID, a DataSource of its own`, ...share(own) },
    { name: `${name}: module to first ID, the application's DataSource`, ...share(host) },
    { name: `${name}: application to first ID, a DataSource of its own`, ...whole(own) },
    { name: `${name}: application to first ID, the application's DataSource`, ...whole(host) },
  ];
  // An embedded database has no round trips.
  if (options.type !== 'better-sqlite3') {
    const note = 'the last one is not waited for';
    figures.push({
      name: `${name}: statements of a start`,
      value: middle(own, ({ statements }) => statements),
      unit: '',
      note,
    });
  }
  const ratio = middle(host, ({ appMs, untilModuleMs }) => appMs / untilModuleMs);
  const note = 'the same application, until its DataSource is open';
  return {
    figures,
    ratios: [{ name: `${name}: application to first ID / to an open DataSource`, value: ratio, note }],
  };
}
