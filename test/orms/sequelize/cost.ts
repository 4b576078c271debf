/**
 * What an ID adds to 1,000 rows, by `bulkCreate()` and, for 100, by `create()`: models of ours, and those of a Sequelize
 * without us whose IDs are at hand, take turns. Prints for each way the medians in milliseconds, and the median of what a
 * pair of turns differs by, in percent.
 */
import { openIdService } from '@raindrop/node';
import { snowflakeKey } from '@raindrop/orm/sequelize';
import { DataTypes } from 'sequelize';
import { connect, dbConfig, dialect } from './shop.js';

const { rounds } = JSON.parse(process.argv[2]!) as { rounds: number };
const service = await openIdService({ dbConfig });

/** As long as those of the service. */
let counted = 30_000_000_000_000_000n;
const columns = { code: DataTypes.STRING, customer: DataTypes.STRING };
const ours = connect({});
const plain = connect({}, true);
const Filled = ours.define('filled', { id: snowflakeKey(), ...columns }, { tableName: 'filled', timestamps: false });
const type = dialect === 'sqlite' ? DataTypes.TEXT : DataTypes.BIGINT;
const AtHand = plain.define(
  'at_hand',
  { id: { type, primaryKey: true, allowNull: false }, ...columns },
  { tableName: 'at_hand', timestamps: false },
);
await ours.sync({ force: true });
await plain.sync({ force: true });

const rows = (isOurs: boolean, count: number): { code: string }[] =>
  Array.from({ length: count }, (_, n) => ({
    ...(!isOurs && { id: String(++counted) }),
    code: `A-${n}`,
    customer: 'Ada',
  }));
const WAYS: Record<string, (isOurs: boolean) => Promise<unknown>> = {
  bulkCreate: (isOurs) => (isOurs ? Filled : AtHand).bulkCreate(rows(isOurs, 1_000)),
  create: async (isOurs) => {
    for (const row of rows(isOurs, 100)) await (isOurs ? Filled : AtHand).create(row);
  },
};

async function time(work: (isOurs: boolean) => Promise<unknown>, isOurs: boolean): Promise<number> {
  const began = performance.now();
  await work(isOurs);
  return performance.now() - began;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;
const found: Record<string, object> = {};
for (const [name, work] of Object.entries(WAYS)) {
  const pairs: [atHand: number, filled: number][] = [];
  for (let round = -10; round < rounds; round++) {
    const pair: [number, number] = [0, 0];
    for (const isOurs of round % 2 === 0 ? [false, true] : [true, false])
      pair[Number(isOurs)] = await time(work, isOurs);
    if (round >= 0) pairs.push(pair);
    await Filled.destroy({ where: {}, truncate: true });
    await AtHand.destroy({ where: {}, truncate: true });
  }
  found[name] = {
    atHandMs: median(pairs.map(([atHand]) => atHand)).toFixed(2),
    filledMs: median(pairs.map(([, filled]) => filled)).toFixed(2),
    addsPercent: (100 * (median(pairs.map(([atHand, filled]) => filled / atHand)) - 1)).toFixed(1),
  };
}
await Promise.all([ours.close(), plain.close()]);
await service.close();
console.log(JSON.stringify(found));
