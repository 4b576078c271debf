/**
 * Two processes insert through Kysely into one table, and are killed (SIGKILL) and replaced again and again. Prints how
 * many rows there are, how many of their keys appear twice, and how many rows have none. The table has no key, so that a
 * duplicate is counted, not refused. With `control`, each process has a generator of its own without a lease.
 */
import { openIdService } from '@raindrop/node';
import { withSnowflakes, type KeyIds } from '@raindrop/orm/kysely';
import { fork, type ChildProcess } from 'node:child_process';
import { dbConfig, given, Kysely, plainDialect, sql, type } from './shop.js';

const { seconds = 3, control = false } = given as { seconds?: number; control?: boolean };

interface Table {
  rows: { id: string | null; title: string };
}

function open(ids?: KeyIds): InstanceType<typeof Kysely<Table>> {
  const dialect = plainDialect('text');
  return new Kysely<Table>({
    dialect: ids === undefined ? dialect : withSnowflakes(dialect, { ids, columns: { rows_of_two: ['id'] } }),
  });
}

/** Inserts one to fifty rows a time, four inserts at once, until it is killed. */
async function insertForEver(): Promise<never> {
  const db = open(control ? ownGenerator() : await openIdService({ dbConfig }));
  const inserted = async (): Promise<never> => {
    for (;;) {
      const rows = Array.from({ length: 1 + Math.floor(Math.random() * 50) }, () => ({ title: 'a row' }));
      await db
        .insertInto('rows_of_two' as 'rows')
        .values(rows)
        .execute();
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

/** Hours and a counter, the same in every process: one that starts late on a busy machine repeats keys, too. */
function ownGenerator(): KeyIds {
  let [last, count] = [0, 0];
  const nextId = (): bigint => {
    const now = Math.floor(Date.now() / 3_600_000);
    [last, count] = [now, now === last ? count + 1 : 0];
    return BigInt(now) * 1_000_000n + BigInt(count);
  };
  return { nextId, nextString: () => nextId().toString() };
}

async function run(): Promise<void> {
  const db = open();
  await sql`drop table if exists rows_of_two`.execute(db);
  await sql`create table rows_of_two (id ${type === 'better-sqlite3' ? sql`text` : sql`bigint`}, title varchar(50))`.execute(
    db,
  );
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
  const { rows: counts } = await sql<Record<'n' | 'ids' | 'different', string | number>>`
    select count(*) as n, count(id) as ids, count(distinct id) as different from rows_of_two`.execute(db);
  const [rows, ids, different] = [Number(counts[0]!.n), Number(counts[0]!.ids), Number(counts[0]!.different)];
  await db.destroy();
  console.log(JSON.stringify({ kills, rows, without: rows - ids, twice: ids - different }));
}

await (process.argv[3] === 'child' ? insertForEver() : run());
