/**
 * Two processes insert through Prisma 8 into one database, and are killed (SIGKILL) and replaced again and again. Prints how
 * many rows there are, how many of their keys appear twice, and how many rows have none. The tables have no keys, so that a
 * duplicate is counted, not refused. With `control`, each process has a generator of its own without a lease.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { KeyIds } from '@raindrop/orm/prisma-8';
import { connect, fresh, given, makeTables, modelsOf, openIds, rowsOf } from './shop.js';

const { seconds = 3, control = false } = given as { seconds?: number; control?: boolean };

/** Inserts one to fifty tags a time, and a customer with an order, four inserts at once, until it is killed. */
async function insertForEver(): Promise<never> {
  const db = await connect('bigint', control ? ownGenerator() : await openIds());
  const { Customer, Tag } = modelsOf(db);
  const name = (): string => `${process.pid} ${fresh()}`;
  const inserted = async (): Promise<never> => {
    for (;;) {
      await Tag.createAndCount(Array.from({ length: 1 + Math.floor(Math.random() * 50) }, () => ({ name: name() })));
      await Customer.create({ email: name(), orders: (orders) => orders.create([{ number: name() }]) });
      process.send!('inserted');
    }
  };
  return Promise.race(Array.from({ length: 4 }, inserted));
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
  await makeTables('bigint');
  for (const table of ['Tag', 'Customer', 'Order']) {
    await rowsOf(`alter table "${table}" drop constraint "${table}_pkey" cascade`, 'bigint');
    await rowsOf(`alter table "${table}" alter column id drop not null`, 'bigint');
  }
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
  const [counts] = await rowsOf(
    `select count(*) as n, count(id) as ids, count(distinct id) as different from
      (select id from "Tag" union all select id from "Customer" union all select id from "Order") as every_row`,
    'bigint',
  );
  const [n, ids, different] = ['n', 'ids', 'different'].map((name) => Number(counts![name]));
  console.log(JSON.stringify({ kills, rows: n, without: n! - ids!, twice: ids! - different! }));
}

await (process.argv[3] === 'child' ? insertForEver() : run());
