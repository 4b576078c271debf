// The same 1,000 rows, with IDs that were at hand and with IDs that the decorator sets: TypeORM's insert().
import 'reflect-metadata';
import { median } from 'simple-statistics';
import typeorm from 'typeorm';
import raindropTypeorm from '../../libs/typeorm/dist/index.js';
import { openDatabases } from '../parts/databases.mjs';
import { openService, WIDE } from '../parts/service.mjs';

export const question = 'What does @GeneratedSnowflake() add to an insert of 1,000 rows?';

const ROWS = 1_000;
const ROUNDS = 30;
/** Of our code alone. */
const REPEATS = 300;

const Plain = entity('Plain', typeorm.PrimaryColumn('bigint'));
/** The same, in a DataSource that has a subscriber which does nothing. */
const Observed = entity('Observed', typeorm.PrimaryColumn('bigint'));
const Generated = entity('Generated', raindropTypeorm.GeneratedSnowflake({ as: 'string' }));

export async function measure() {
  const { ids, close } = await openService(WIDE);
  const { databases } = await openDatabases();
  const figures = [];
  const ratios = [];
  try {
    for (const database of databases) {
      const times = await timesOn(database, ids);
      const { name } = database;
      const plainMs = median(times.plain);
      const own = times.ownMs / plainMs;
      const whole = median(times.generated.map((ms, round) => ms / times.plain[round]));
      const observed = median(times.observed.map((ms, round) => ms / times.plain[round]));
      figures.push({ name: `${name}: insert of ${ROWS} rows, IDs at hand`, value: plainMs, unit: 'ms' });
      figures.push({ name: `${name}: our code in it`, value: (times.ownMs * 1e6) / ROWS, unit: 'ns per row' });
      ratios.push({ name: `${name}: our code / the insert`, value: own, atMost: 0.01 });
      ratios.push({ name: `${name}: with the decorator / IDs at hand`, value: whole });
      ratios.push({
        name: `${name}: with any subscriber / IDs at hand`,
        value: observed,
        note: 'TypeORM tells it of every row',
      });
    }
  } finally {
    await Promise.all(databases.map(({ drop }) => drop()));
    await close();
  }
  return { figures, ratios };
}

async function timesOn({ options }, ids) {
  const open = (...entities) => new typeorm.DataSource({ ...options, entities, synchronize: true }).initialize();
  const [plain, observed, generated] = [await open(Plain), await open(Observed), await open(Generated)];
  observed.subscribers.push({ beforeInsert: () => {}, beforeQuery: () => {}, afterQuery: () => {} });
  ids.attach(generated);
  const times = { plain: [], observed: [], generated: [] };
  const sides = [
    ['plain', plain.getRepository(Plain), withIds],
    ['observed', observed.getRepository(Observed), withIds],
    ['generated', generated.getRepository(Generated), emptyRows],
  ];
  function withIds() {
    return rowsOf(() => ({ id: ids.nextId().toString() }));
  }
  for (let round = -ROUNDS / 4; round < ROUNDS; round++) {
    for (const [side, repository, rows] of round % 2 === 0 ? sides : [...sides].reverse()) {
      const given = rows();
      // Nobody's garbage but its own.
      globalThis.gc?.();
      const begun = performance.now();
      await repository.insert(given);
      if (round >= 0) times[side].push(performance.now() - begun);
    }
  }
  const ownMs = ownTime(generated, plain);
  await Promise.all([plain, observed, generated].map((each) => each.destroy()));
  return { ...times, ownMs };
}

/**
 * What is ours on the way of 1,000 rows, ms: the IDs, what the driver does more with them than with other texts, and the
 * look at the statement.
 */
function ownTime(generated, plain) {
  const [subscriber] = generated.subscribers;
  const metadata = generated.getMetadata(Generated);
  const fill = (rows) => {
    for (const entity of rows) subscriber.beforeInsert({ entity, metadata });
  };
  const filled = () => {
    const rows = emptyRows();
    fill(rows);
    return rows;
  };
  const bind =
    ({ driver }, { primaryColumns: [key] }) =>
    (rows) => {
      for (const { id } of rows) driver.preparePersistentValue(id, key);
    };
  const query = `INSERT INTO "generated"("id", "title") VALUES ${Array(ROWS).fill('(?, ?)').join(', ')}`;
  const parameters = Array(2 * ROWS).fill('');
  const look = () => {
    subscriber.beforeQuery({ query, parameters });
    subscriber.afterQuery({ parameters });
  };
  const binding = timeOf(filled, bind(generated, metadata)) - timeOf(filled, bind(plain, plain.getMetadata(Plain)));
  return timeOf(emptyRows, fill) + binding + timeOf(() => undefined, look);
}

/** The median, ms. */
function timeOf(prepare, run) {
  const times = Array.from({ length: REPEATS }, () => {
    const given = prepare();
    const begun = performance.now();
    run(given);
    return performance.now() - begun;
  });
  return median(times);
}

function emptyRows() {
  return rowsOf(() => ({}));
}

function rowsOf(id) {
  return Array.from({ length: ROWS }, (_, index) => ({ ...id(), title: `title ${index}` }));
}

function entity(name, key) {
  const target = { [name]: class {} }[name];
  key(target.prototype, 'id');
  typeorm.Column('varchar', { length: 100 })(target.prototype, 'title');
  typeorm.Entity(name.toLowerCase())(target);
  return target;
}
