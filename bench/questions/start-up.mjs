// Fresh processes, since an application starts once in each: modules are loaded, nothing is compiled yet.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median } from 'simple-statistics';
import { DataSource } from 'typeorm';
import { openDatabases } from '../parts/databases.mjs';
import { orMoment } from '../parts/moment.mjs';

export const question = 'How long does it take from the module’s start to the first ID, on a warm worker table?';

const ROUNDS = orMoment(4, 0);
/** The one before it creates and fills the table. */
const FIRST_MEASURED = orMoment(1, 0);
/** Session, look, acquisition, confirmation; the check of the server's settings is not waited for. */
const MOST_STATEMENTS = 5;
/** The readme's 1,023 workers, few, and 1,023 of which every row has been used before. Layouts must not share a table. */
const MANY = { bits: 10, table: 'workers' };
const FEW = { bits: 6, table: 'few_workers' };
const USED = { bits: 10, table: 'used_workers' };
const ONE_START = fileURLToPath(new URL('../parts/one-start.mjs', import.meta.url));

export async function measure() {
  const { databases, missing } = await openDatabases();
  try {
    const starts = databases.map(() => ({ own: [], host: [], few: [], used: [] }));
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [index, { options }] of databases.entries()) {
        for (const form of ['own', 'host']) {
          const start = await startOnce(form, options);
          if (round >= FIRST_MEASURED) starts[index][form].push(start);
        }
        for (const [name, workers] of Object.entries({ few: FEW, used: USED })) {
          const start = await startOnce('own', options, workers);
          if (round >= FIRST_MEASURED) starts[index][name].push(start);
        }
        if (round === 0) await useAll(options, USED.table);
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

/** As if every row had been taken and given back once. */
async function useAll(options, table) {
  const source = await new DataSource(options).initialize();
  const layout = `(SELECT fingerprint FROM ${table}_layout)`;
  const odometers = 'odo0_ms = 1767225600000, odo0_seq = 7, odo1_ms = 1767225600000, odo1_seq = 7';
  await source.query(`UPDATE ${table} SET code = 'gone', layout = ${layout}, ${odometers} WHERE code = ''`);
  await source.query(`UPDATE ${table} SET version = 3, own_version = 3 WHERE code = 'gone'`);
  await source.destroy();
}

async function startOnce(form, options, { bits, table } = MANY) {
  const parameters = [ONE_START, form, JSON.stringify(options), String(bits), table];
  const { stdout } = await promisify(execFile)(process.execPath, parameters);
  return JSON.parse(stdout);
}

function resultsOf({ name, options }, { own, host, few, used }) {
  const middle = (starts, of) => median(starts.map(of));
  const share = (starts) => ({ value: middle(starts, ({ moduleMs }) => moduleMs), unit: 'ms' });
  const whole = (starts) => ({
    value: middle(starts, ({ appMs }) => appMs),
    unit: 'ms',
    note: 'with Nest and TypeORM',
  });
  const figures = [
    { name: `${name}: module to first ID, a DataSource of its own, 63 workers`, ...share(few) },
    { name: `${name}: module to first ID, a DataSource of its own`, ...share(own) },
    { name: `${name}: module to first ID, a DataSource of its own, every row used before`, ...share(used) },
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
      atMost: MOST_STATEMENTS,
      note,
    });
  }
  const ratio = middle(host, ({ appMs, untilModuleMs }) => appMs / untilModuleMs);
  const note = 'the same application, until its DataSource is open';
  return {
    figures,
    ratios: [{ name: `${name}: application to first ID / to an open DataSource`, value: ratio, atMost: 3.2, note }],
  };
}
