/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-return -- the types of the two versions differ */
/**
 * What an ID adds to 1,000 rows, by `em.create()` and `flush()`, and by `em.insertMany()`: entities of ours, and those of a
 * MikroORM without us whose IDs are at hand, take turns. Prints for each way the medians in milliseconds, and the median of
 * what a pair of turns differs by, in percent.
 */
import { defineEntity } from '@mikro-orm/core';
import { openIdService } from '@raindrop/node';
import { snowflakeKey } from '@raindrop/orm/mikro-orm';
import { connect, createSchema, database, type } from './shop.js';

const { rounds } = JSON.parse(process.argv[2]!) as { rounds: number };
const service = await openIdService({ dbConfig: database as never });

/** As long as those of the service. */
let counted = 30_000_000_000_000_000n;
const counting = (): string => String(++counted);
const define = (name: string, id: (p: any) => unknown): any =>
  defineEntity({
    name,
    tableName: name.toLowerCase(),
    properties: (p: any) => ({ id: id(p), code: p.string(), customer: p.string() }),
  } as never);
const Filled = define('Filled', () => snowflakeKey());
const isSqlite = type === 'better-sqlite3';
const AtHand = define('AtHand', (p) =>
  (isSqlite ? p.text() : p.bigint('string')).primary().autoincrement(false).onCreate(counting),
);
const ours = await connect([Filled, AtHand]);
await createSchema(ours);
const plain = await connect([Filled, AtHand], true);

const rows = (): { code: string; customer: string }[] =>
  Array.from({ length: 1_000 }, (_, n) => ({ code: `A-${n}`, customer: 'Ada' }));
const WAYS: Record<string, (isOurs: boolean) => Promise<unknown>> = {
  flush: async (isOurs) => {
    const em = (isOurs ? ours : plain).em.fork();
    for (const row of rows()) em.create(isOurs ? Filled : AtHand, row, { persist: true });
    await em.flush();
  },
  insertMany: (isOurs) => {
    const data = isOurs ? rows() : rows().map((row) => ({ id: counting(), ...row }));
    return (isOurs ? ours : plain).em.fork().insertMany(isOurs ? Filled : AtHand, data);
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
    for (const table of ['filled', 'athand']) await ours.em.getConnection().execute(`delete from ${table}`);
  }
  found[name] = {
    atHandMs: median(pairs.map(([atHand]) => atHand)).toFixed(2),
    filledMs: median(pairs.map(([, filled]) => filled)).toFixed(2),
    addsPercent: (100 * (median(pairs.map(([atHand, filled]) => filled / atHand)) - 1)).toFixed(1),
  };
}
await Promise.all([ours.close(true), plain.close(true)]);
await service.close();
console.log(JSON.stringify(found));
