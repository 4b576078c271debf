// The same 1,000 rows by TypeORM's insert(): with IDs that were at hand, with those that the decorator sets, and with
// TypeORM's own kinds of keys.
import { GeneratedSnowflake } from '@raindrop/typeorm';
import 'reflect-metadata';
import { quantile } from 'simple-statistics';
import typeorm from 'typeorm';
import { openDatabases } from '../parts/databases.mjs';
import { orMoment } from '../parts/moment.mjs';
import { openService, WIDE } from '../parts/service.mjs';

export const question = 'How long does an insert of 1,000 rows take with @GeneratedSnowflake()?';

const ROWS = 1_000;
const ROUNDS = orMoment(20, 2);
/** In each turn. A single insert fills the young generation or just not: its garbage would be counted whole or not at all. */
const INSERTS = orMoment(6, 1);

const atHand = () => typeorm.PrimaryColumn('bigint');
const generated = () => GeneratedSnowflake({ as: 'string' });

/** By name: the key; whether the rows come with IDs; whether a subscriber of the application's is told of each row. */
const CONTENDERS = {
  'IDs at hand': { key: atHand(), hasIds: true },
  'IDs at hand and a subscriber': { key: atHand(), hasIds: true, isTold: true },
  '@GeneratedSnowflake()': { key: generated(), isOurs: true },
  '@GeneratedSnowflake(), IDs at hand': { key: generated(), isOurs: true, hasIds: true },
  '@GeneratedSnowflake() and a subscriber': { key: generated(), isOurs: true, isTold: true },
  uuid: { key: typeorm.PrimaryGeneratedColumn('uuid') },
  'auto-increment': { key: typeorm.PrimaryGeneratedColumn() },
};
const [BASE, TOLD_BASE, OURS, OURS_AT_HAND, OURS_TOLD, UUID, INCREMENT] = Object.keys(CONTENDERS);

export async function measure() {
  const { ids, close } = await openService(WIDE);
  const { databases } = await openDatabases();
  const figures = [];
  const ratios = [];
  try {
    for (const { name, options } of databases) {
      const sides = await timesOn(options, ids);
      const ratio = (what, side, base, more) => {
        const value = quickest(sides[side][what]) / quickest(sides[base][what]);
        const kind = what === 'ms' ? '' : ', CPU time of the process';
        ratios.push({ name: `${name}: ${side} / ${base}${kind}`, value, ...more });
      };
      figures.push({ name: `${name}: insert of ${ROWS} rows, ${BASE}`, value: quickest(sides[BASE].ms), unit: 'ms' });
      ratio('ms', OURS, BASE, { atMost: 1.05 });
      ratio('cpuMs', OURS, BASE);
      ratio('ms', OURS_AT_HAND, BASE, { atMost: 1.05 });
      ratio('ms', OURS_TOLD, TOLD_BASE, { atMost: 1.25 });
      ratio('ms', TOLD_BASE, BASE, { note: 'TypeORM tells it of each row before and after' });
      ratio('ms', UUID, BASE);
      ratio('ms', INCREMENT, BASE);
    }
  } finally {
    await Promise.all(databases.map(({ drop }) => drop()));
    await close();
  }
  return { figures, ratios };
}

/** The lower quartile: what disturbs the machine makes inserts slower, never quicker. */
function quickest(times) {
  return quantile(times, 0.25);
}

/** The contenders take turns, in an order that changes: what disturbs the machine disturbs all of them. */
async function timesOn(options, ids) {
  const sides = [];
  for (const [at, [name, contender]] of Object.entries(CONTENDERS).entries()) {
    const target = entity(`Rows${at}`, contender.key);
    const dataSource = await new typeorm.DataSource({ ...options, entities: [target], synchronize: true }).initialize();
    if (contender.isTold) dataSource.subscribers.push({ beforeInsert: () => {}, afterInsert: () => {} });
    if (contender.isOurs) ids.attach(dataSource);
    const id = contender.hasIds ? () => ({ id: ids.nextId().toString() }) : () => ({});
    sides.push({ name, id, dataSource, repository: dataSource.getRepository(target), ms: [], cpuMs: [] });
  }
  for (let round = -ROUNDS / 2; round < ROUNDS; round++) {
    const first = (round + ROUNDS) % sides.length;
    const turns = [...sides.slice(first), ...sides.slice(0, first)];
    for (const side of round % 2 === 0 ? turns : turns.reverse()) {
      const inserts = Array.from({ length: INSERTS }, () => rowsOf(side));
      // Timers and the lease get their turn: SQLite's inserts leave them none.
      await new Promise((resolve) => setTimeout(resolve, 2));
      // Only its own garbage.
      globalThis.gc?.();
      const cpu = process.cpuUsage();
      const begun = performance.now();
      while (inserts.length > 0) await side.repository.insert(inserts.pop());
      const ms = performance.now() - begun;
      const { user, system } = process.cpuUsage(cpu);
      if (round < 0) continue;
      side.ms.push(ms / INSERTS);
      side.cpuMs.push((user + system) / 1_000 / INSERTS);
    }
  }
  await Promise.all(sides.map(({ dataSource }) => dataSource.destroy()));
  return Object.fromEntries(sides.map((side) => [side.name, side]));
}

function rowsOf({ id }) {
  return Array.from({ length: ROWS }, (_, index) => ({ ...id(), title: `title ${index}` }));
}

function entity(name, key) {
  const target = { [name]: class {} }[name];
  key(target.prototype, 'id');
  typeorm.Column('varchar', { length: 100 })(target.prototype, 'title');
  typeorm.Entity(name.toLowerCase())(target);
  return target;
}
