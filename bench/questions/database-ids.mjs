// The same INSERT ... SELECT into tables whose keys have different defaults: the function of `raindrop sql --issue`, a
// sequence, and a random UUID. By one connection, and by sixteen at once.
import { databaseIdSql, workerTableSql } from '@raindrop/node';
import { median } from 'simple-statistics';
import typeorm from 'typeorm';
import { openDatabases } from '../parts/databases.mjs';
import { orMoment } from '../parts/moment.mjs';
import { WIDE } from '../parts/service.mjs';

export const question = 'How long does PostgreSQL take to make an ID itself?';

const ROWS = orMoment(100_000, 1_000);
const ROUNDS = orMoment(9, 1);
const CONNECTIONS = 16;

/** By name: type and default of the key. */
const CONTENDERS = {
  'raindrop_id()': 'bigint PRIMARY KEY DEFAULT raindrop_id()',
  'nextval()': "bigint PRIMARY KEY DEFAULT nextval('numbers')",
  'gen_random_uuid()': 'uuid PRIMARY KEY DEFAULT gen_random_uuid()',
};
const [OURS, SEQUENCE, UUID] = Object.keys(CONTENDERS);

export async function measure() {
  const { databases } = await openDatabases();
  const found = databases.find(({ options }) => options.type === 'postgres');
  try {
    if (found === undefined) return { figures: [{ name: 'PostgreSQL', note: 'left out: no server' }], ratios: [] };
    return await measureOn(found.options);
  } finally {
    await Promise.all(databases.map(({ drop }) => drop()));
  }
}

async function measureOn(options) {
  const dataSource = await new typeorm.DataSource({ ...options, extra: { max: CONNECTIONS } }).initialize();
  try {
    for (const sql of workerTableSql('postgres', 'soc_raindrop_worker')) await dataSource.query(sql);
    await dataSource.query(databaseIdSql(WIDE));
    await dataSource.query('CREATE SEQUENCE numbers');
    const tables = Object.entries(CONTENDERS).map(([name, key], at) => ({ name, key, table: `rows_${at}` }));
    for (const { key, table } of tables) await dataSource.query(`CREATE TABLE ${table} (id ${key}, n int)`);
    const one = await timesOf(tables, (table) => dataSource.query(insertInto(table, ROWS)), dataSource);
    const each = Math.ceil(ROWS / CONNECTIONS);
    const all = await timesOf(
      tables,
      (table) => Promise.all(Array.from({ length: CONNECTIONS }, () => dataSource.query(insertInto(table, each)))),
      dataSource,
    );
    const figures = (kind, times, rows) =>
      Object.entries(times).map(([name, ms]) => ({
        name: `${name}${kind}`,
        value: (ms * 1_000) / rows,
        unit: 'µs/row',
      }));
    const ratios = (kind, times) => [
      { name: `${OURS} / ${UUID}${kind}`, value: times[OURS] / times[UUID], atMost: 2 },
      { name: `${OURS} / ${SEQUENCE}${kind}`, value: times[OURS] / times[SEQUENCE] },
    ];
    const [alone, together] = ['', `, ${CONNECTIONS} connections at once`];
    return {
      figures: [...figures(alone, one, ROWS), ...figures(together, all, each * CONNECTIONS)],
      ratios: [...ratios(alone, one), ...ratios(together, all)],
    };
  } finally {
    await dataSource.destroy();
  }
}

function insertInto(table, rows) {
  return `INSERT INTO ${table} (n) SELECT generate_series(1, ${rows})`;
}

/** The contenders take turns, in an order that changes, each with an empty table. @returns by name: ms */
async function timesOf(tables, insert, dataSource) {
  const times = Object.fromEntries(tables.map(({ name }) => [name, []]));
  // The first round is not counted: sessions and plans are new.
  for (let round = -1; round < ROUNDS; round++) {
    const first = (round + ROUNDS) % tables.length;
    for (const { name, table } of [...tables.slice(first), ...tables.slice(0, first)]) {
      await dataSource.query(`TRUNCATE ${table}`);
      const begun = performance.now();
      await insert(table);
      if (round >= 0) times[name].push(performance.now() - begun);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, each]) => [name, median(each)]));
}
