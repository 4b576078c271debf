/**
 * Two processes insert through Prisma into one table, and are killed (SIGKILL) and replaced again and again. Prints how
 * many rows there are, how many of their keys appear twice, and how many rows have none. The table has no key, so that a
 * duplicate is counted, not refused. With `control`, each process has a generator of its own without a lease.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { openIdService } from '@raindrop/node';
import type { KeyIds } from '@raindrop/orm/prisma';
import { connect, dbConfig, given, makeTables, quoted, snowflakes, type } from './shop.js';

const { seconds = 3, control = false } = given as { seconds?: number; control?: boolean };

/** Inserts one to fifty customers a time, each with an order, four inserts at once, until it is killed. */
async function insertForEver(): Promise<never> {
  const ids = control ? ownGenerator() : await openIdService({ dbConfig });
  const db = (await connect('bigint')).$extends(snowflakes(ids));
  let names = 0;
  const inserted = async (): Promise<never> => {
    for (;;) {
      const data = Array.from({ length: 1 + Math.floor(Math.random() * 50) }, () => ({ name: 'a line', orderId: 1n }));
      await db.line.createMany({ data });
      await db.tag.create({ data: { name: `${process.pid} ${++names}`, orders: { create: { number: `${names}` } } } });
      process.send!('inserted');
    }
  };
  return Promise.race(Array.from({ length: type === 'better-sqlite3' ? 1 : 4 }, inserted));
}

function start(): ChildProcess {
  return fork(process.argv[1]!, [process.argv[2]!, 'child'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** Kills it when it has inserted so often, which leaves it in the middle of something. */
function killedAfter(child: ChildProcess, inserts: number): Promise<void> {
  return new Promise((settle, fail) => {
    let count = 0;
    child.on('message', () => {
      if (++count === inserts) child.kill('SIGKILL');
    });
    child.once('exit', (code, signal) => {
      if (signal === 'SIGKILL') settle();
      else fail(new Error(`a process has ended by itself: ${code}`));
    });
  });
}

/** Tens of seconds and a counter, the same in every process. */
function ownGenerator(): KeyIds {
  let [last, count] = [0, 0];
  const nextId = (): bigint => {
    const now = Math.floor(Date.now() / 10_000);
    [last, count] = [now, now === last ? count + 1 : 0];
    return BigInt(now) * 1_000_000n + BigInt(count);
  };
  return { nextId, nextString: () => nextId().toString() };
}

async function run(): Promise<void> {
  const db = await connect('bigint');
  await makeTables(db, 'bigint');
  const text = type === 'mariadb' ? 'varchar(50)' : 'text';
  const withoutKeys = [
    `"Line" (id bigint, name ${text}, "orderId" bigint)`,
    `"Tag" (id bigint, name ${text})`,
    `"Order" (id bigint, number ${text}, "customerId" bigint, data ${text})`,
    '"_OrderToTag" ("A" bigint, "B" bigint)',
  ];
  for (const table of ['_OrderToTag', 'Line', 'Tag', 'Order'])
    await db.$executeRawUnsafe(quoted(`drop table "${table}"`));
  for (const table of withoutKeys) await db.$executeRawUnsafe(quoted(`create table ${table}`));
  const end = performance.now() + seconds * 1_000;
  let kills = 0;
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      await killedAfter(start(), 1 + Math.floor(Math.random() * 25));
      kills++;
    }
  };
  await Promise.all([one(), one()]);
  // In one query: what a killed process had sent may still arrive.
  const counts = await db.$queryRawUnsafe<Record<'n' | 'ids' | 'different', bigint>[]>(
    quoted(`select count(*) as n, count(id) as ids, count(distinct id) as different from
      (select id from "Line" union all select id from "Tag" union all select id from "Order") as every_row`),
  );
  const { n, ids, different } = counts[0]!;
  await db.$disconnect();
  console.log(JSON.stringify({ kills, rows: Number(n), without: Number(n - ids), twice: Number(ids - different) }));
}

await (process.argv[3] === 'child' ? insertForEver() : run());
