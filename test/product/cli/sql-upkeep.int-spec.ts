import { Layout, parseId } from '@raindrop/core';
import { shapeOfFingerprint } from '@raindrop/core/internal';
import { DataSource, type QueryRunner } from 'typeorm';
import { SeededRandom } from '../../support/engine/seeded-random.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { readDocument } from '../../published/docs/typescript-blocks.js';
import { jsonHere } from './cli-in-process.js';

const DAY_MS = 86_400_000;
const MAX_ID = 2n ** 63n - 1n;
const layout = new Layout(shapeOfFingerprint('1000@1767225600:t33.w10.b1.s18.e1=0')!);

/** Layouts whose boundaries are computed in different ways: units, epochs within a unit, 64 bits. */
const LAYOUTS: readonly (readonly [what: string, flags: readonly string[]])[] = [
  ['the default layout', []],
  ['the layout of numbers', ['--layout', 'number']],
  ['ticks of 10 ms', ['--preset', 'sonyflake']],
  ['milliseconds', ['--preset', 'twitter', '--start', '2024-02-29T12:34:56.789Z']],
  [
    'hours',
    ['--time-unit', 'hour', '--start', '2026-03-03T10:20:30.400Z', '--timestamp-bits', '19', '--worker-bits', '8'],
  ],
  ['64 bits', ['--preset', 'discord']],
];

/** A partition: its first ID (MySQL has none), and the first one after it. */
type Bounds = readonly [first: string | null, end: string];

interface Printed {
  readonly statements: readonly string[];
}

async function print(kind: string, ...args: string[]): Promise<readonly string[]> {
  const { code, result } = await jsonHere<Printed>(['sql', '--db', kind, '--table', 'orders', ...args]);
  expect(code).toBe(0);
  return result.statements;
}

describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))('the upkeep of partitions on %s', (kind) => {
  const isPostgres = kind === 'postgres';
  const rest = isPostgres ? 'pdefault' : 'pmax';
  let database: TestDatabase;
  let dataSource: DataSource;
  let session: QueryRunner;

  const rows = <T>(sql: string): Promise<T[]> => session.query(sql) as Promise<T[]>;

  async function run(statements: readonly string[], by: QueryRunner = session): Promise<void> {
    for (const each of statements) await by.query(each);
  }

  beforeAll(async () => {
    database = await testDatabase(kind);
    dataSource = await new DataSource(database.options).initialize();
    session = dataSource.createQueryRunner();
    // A zone in which no day begins when one begins in UTC.
    await session.query(isPostgres ? `SET TIME ZONE 'America/New_York'` : `SET time_zone = '-05:00'`);
  });

  afterAll(async () => {
    await session.release();
    await dataSource.destroy();
    await database.drop();
  });

  async function makeTable(columns = 'id bigint PRIMARY KEY, customer varchar(20)', by = 'id'): Promise<void> {
    if (isPostgres) await run(['DROP SCHEMA public CASCADE', 'CREATE SCHEMA public']);
    // A session that an error has stopped keeps its lock, and here it goes on.
    else await run(['DROP TABLE IF EXISTS orders', 'DO RELEASE_ALL_LOCKS()']);
    await run([`CREATE TABLE orders (${columns}) ${isPostgres ? `PARTITION BY RANGE (${by})` : ''}`]);
  }

  /** Prints the upkeep, with another clock in it. */
  async function upkeep(at: string, period: string, keep: string, ahead: string, ...more: string[]): Promise<string[]> {
    const mayDrop = isPostgres || keep === 'all' ? [] : ['--drop'];
    const all = ['--partitions', period, '--keep', keep, '--ahead', ahead, ...mayDrop, ...more];
    return (await print(kind, ...all)).map((each) => withClock(each, at));
  }

  function withClock(statement: string, at: string): string {
    const text = new Date(at).toISOString().slice(0, 23).replace('T', ' ');
    return isPostgres
      ? statement.replace('pg_catalog.now()', `timestamptz '${text}+00'`)
      : statement.replace('UTC_TIMESTAMP()', `TIMESTAMP'${text}'`);
  }

  /** The partitions that the database has, without the one for other IDs. */
  async function found(table = 'orders'): Promise<Record<string, Bounds>> {
    if (!isPostgres) {
      const parts = await rows<{ name: string; end: string }>(
        `SELECT PARTITION_NAME AS name, PARTITION_DESCRIPTION AS end FROM information_schema.PARTITIONS
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${table}' AND PARTITION_NAME <> 'pmax' ORDER BY 1`,
      );
      return Object.fromEntries(parts.map(({ name, end }) => [name, [null, end]]));
    }
    const parts = await rows<{ name: string; bounds: string }>(
      `SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds FROM pg_inherits i
       JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = '${table}'::regclass AND c.relname !~ 'default$' ORDER BY 1`,
    );
    return Object.fromEntries(
      parts.map(({ name, bounds }) => [name.slice(table.length + 1), bounds.match(/\d+/g) as unknown as Bounds]),
    );
  }

  /** The partitions that `--from` and `--to` print. */
  async function printed(period: string, from: string, to: string, ...more: string[]): Promise<Record<string, Bounds>> {
    const text = (await print(kind, '--partitions', period, '--from', from, '--to', to, ...more)).join('\n');
    const parts = isPostgres
      ? text.matchAll(/"orders_(p\d\w+)".* FROM \((\d+)\) TO \((\d+)\)/g)
      : text.matchAll(/PARTITION (p\d\w+) VALUES LESS THAN (\()(\d+)\)/g);
    return Object.fromEntries(Array.from(parts, ([, name, first, end]) => [name!, [isPostgres ? first! : null, end!]]));
  }

  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

  /** The first day of a period, `steps` periods after the one that holds a time. */
  function periodAt(period: string, ms: number, steps: number): string {
    const date = new Date(ms);
    if (period === 'month') return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + steps));
    const monday = period === 'week' ? ms - ((date.getUTCDay() + 6) % 7) * DAY_MS : ms;
    return dayOf(monday + steps * (period === 'week' ? 7 : 1) * DAY_MS);
  }

  const wanted = (period: string, ms: number, keep: number, ahead: number, ...more: string[]) =>
    printed(period, periodAt(period, ms, -keep), periodAt(period, ms, ahead + 1), ...more);

  /** Where each row is. */
  async function placeOfRows(): Promise<Record<string, string[]>> {
    const places: Record<string, string[]> = {};
    for (const name of [...Object.keys(await found()), rest]) {
      const from = isPostgres ? `orders_${name}` : `orders PARTITION (${name})`;
      const ids = await rows<{ id: string }>(`SELECT id FROM ${from} ORDER BY id`);
      if (ids.length > 0) places[name] = ids.map(({ id }) => String(id));
    }
    return places;
  }

  const idAt = (at: string): string => String(layout.idFloor(new Date(at)) + 7n);
  const insert = (ids: readonly string[]): Promise<void> =>
    run([`INSERT INTO orders (id) VALUES ${ids.map((each) => `(${each})`).join(', ')}`]);

  it.each([
    ['month', '2027-11-28', '2028-03-03', 3, 2],
    ['week', '2026-12-19', '2027-01-20', 2, 2],
    ['week', '2027-12-18', '2028-01-19', 1, 1],
    ['week', '2028-02-20', '2028-03-10', 3, 1],
    ['day', '2027-12-28', '2028-01-04', 2, 3],
    ['day', '2028-02-25', '2028-03-04', 2, 2],
  ])('of each %s, run every day from %s to %s, are those that --from and --to print', async (...row) => {
    const [period, from, to, keep, ahead] = row;
    await makeTable();
    const start = Date.parse(from);
    const first = [periodAt(period, start, -keep), periodAt(period, start, 1)] as const;
    await run(await print(kind, '--partitions', period, '--from', first[0], '--to', first[1]));
    for (let ms = start; ms <= Date.parse(to); ms += DAY_MS) {
      // At the first and at the last moment of a day.
      for (const at of [ms, ms + DAY_MS - 1]) {
        await run(await upkeep(new Date(at).toISOString(), period, String(keep), String(ahead)));
        const expected = await wanted(period, at, keep, ahead);
        expect(Object.keys(expected)).toHaveLength(keep + 1 + ahead);
        expect([dayOf(at), await found()]).toEqual([dayOf(at), expected]);
      }
    }
  });

  it.each(LAYOUTS)('have the boundaries of %s', async (_, flags) => {
    for (const period of ['month', 'week', 'day']) {
      await makeTable(`id bigint ${!isPostgres && flags.includes('discord') ? 'unsigned' : ''} PRIMARY KEY`);
      const at = Date.parse('2028-02-29T12:00:00Z');
      const past = [periodAt(period, at, -4), periodAt(period, at, 0)] as const;
      await run(await print(kind, ...flags, '--partitions', period, '--from', past[0], '--to', past[1]));
      await run(await upkeep(new Date(at).toISOString(), period, '2', '5', ...flags));
      expect(await found()).toEqual(await wanted(period, at, 2, 5, ...flags));
    }
  });

  it('begin with the present, in a table that has none, and go on where a scheduler has slept', async () => {
    await makeTable();
    if (isPostgres) await run(['CREATE TABLE orders_pdefault PARTITION OF orders DEFAULT']);
    else await run(['ALTER TABLE orders PARTITION BY RANGE (id) (PARTITION pmax VALUES LESS THAN MAXVALUE)']);
    await run(await upkeep('2027-09-15T12:00:00Z', 'month', '2', '1'));
    expect(Object.keys(await found())).toEqual(['p2027_09', 'p2027_10']);

    const ids = [
      '2027-09-01',
      '2027-10-31T23:59:59Z',
      '2027-11-01',
      '2027-11-30T23:59:59Z',
      '2027-12-31T23:59:59Z',
      '2028-01-01',
      '2028-02-29T23:59:59Z',
      '2028-03-01',
      '2028-03-31T23:59:59Z',
      '2028-04-01',
    ].map(idAt);
    await insert(ids);
    expect((await placeOfRows())[rest]).toEqual(ids.slice(2));
    // The scheduler slept until January: the rows go where they belong, and none is lost.
    await run(await upkeep('2028-01-20T12:00:00Z', 'month', '7', '2'));
    expect(await found()).toEqual(await printed('month', '2027-09', '2028-04'));
    const places = {
      p2027_09: [ids[0]],
      p2027_10: [ids[1]],
      p2027_11: ids.slice(2, 4),
      p2027_12: [ids[4]],
      p2028_01: [ids[5]],
      p2028_02: [ids[6]],
      p2028_03: ids.slice(7, 9),
      [rest]: [ids[9]],
    };
    expect(await placeOfRows()).toEqual(places);

    // Asleep for longer than what is kept: what was missed is made, and is old at once.
    await run(await upkeep('2028-08-01T00:00:00Z', 'month', '2', '1'));
    expect(Object.keys(await found())).toEqual(['p2028_06', 'p2028_07', 'p2028_08', 'p2028_09']);
    expect(await placeOfRows()).toEqual({});
    if (!isPostgres) return;
    const kept = await rows<{ id: string }>(
      ['p2027_09', 'p2027_10', 'p2027_11', 'p2027_12', 'p2028_01', 'p2028_02', 'p2028_03', 'p2028_04', 'p2028_05']
        .map((name) => `SELECT id FROM orders_${name}`)
        .join(' UNION ALL '),
    );
    expect(kept.map(({ id }) => id).sort()).toEqual([...ids].sort());
  });

  it('are the same after a second run, and after runs at once', async () => {
    await makeTable();
    await run(await print(kind, '--partitions', 'month', '--from', '2027-01', '--to', '2027-10'));
    const random = new SeededRandom(58);
    const ids = Array.from({ length: 300 }, () =>
      String(
        layout.idFloor(new Date(random.between(Date.UTC(2027, 6), Date.UTC(2028, 3)))) + BigInt(random.below(2 ** 30)),
      ),
    );
    await insert([...new Set(ids)]);
    const statements = await upkeep('2028-02-10', 'month', '7', '2');
    const sessions = Array.from({ length: 4 }, () => dataSource.createQueryRunner());
    try {
      for (const each of sessions) await each.connect();
      await Promise.all(sessions.map((each) => run(statements, each)));
    } finally {
      for (const each of sessions) await each.release();
    }
    const [parts, places] = [await found(), await placeOfRows()];
    expect(parts).toEqual(await printed('month', '2027-07', '2028-05'));
    expect(Object.values(places).flat().sort()).toEqual([...new Set(ids)].sort());
    expect(places[rest]).toBeUndefined();
    await run(statements);
    expect([await found(), await placeOfRows()]).toEqual([parts, places]);
  });

  it('lose no row that others insert meanwhile', async () => {
    await makeTable();
    await run(await print(kind, '--partitions', 'day', '--from', '2028-02-20', '--to', '2028-02-21'));
    const writers = Array.from({ length: 3 }, () => dataSource.createQueryRunner());
    const start = layout.idFloor(new Date('2028-02-21'));
    const step = layout.idFloor(new Date('2028-02-21T01:00:00Z')) - start;
    const inserted: string[] = [];
    let isOver = false;
    const write = async (writer: QueryRunner, index: number): Promise<void> => {
      for (let n = 0; !isOver; n++) {
        const id = String(start + BigInt(n % 400) * step + BigInt(n * 3 + index));
        await writer.query(`INSERT INTO orders (id) VALUES (${id})`);
        inserted.push(id);
      }
    };
    const writing = Promise.all(writers.map(write));
    try {
      for (const day of ['2028-02-22', '2028-02-25', '2028-02-29', '2028-03-01', '2028-03-03']) {
        const count = inserted.length;
        await run(await upkeep(`${day}T12:00:00Z`, 'day', '20', '1'));
        while (inserted.length < count + 300) await rows('SELECT 1');
      }
    } finally {
      isOver = true;
      await writing;
      for (const each of writers) await each.release();
    }
    expect(await found()).toEqual(await printed('day', '2028-02-20', '2028-03-05'));
    const places = await placeOfRows();
    expect(Object.values(places).flat().sort()).toEqual(inserted.sort());
    const wrong = Object.entries(places).filter(([name, ids]) =>
      ids.some((id) => {
        const day = parseId(layout, BigInt(id)).time.toISOString().slice(0, 10);
        return name !== (day < '2028-03-05' ? `p${day.replaceAll('-', '_')}` : rest);
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('with --keep all only grow', async () => {
    await makeTable();
    await run(await print(kind, '--partitions', 'day', '--from', '2026-01-01', '--to', '2026-01-04'));
    await run(await upkeep('2026-02-01', 'day', 'all', '1'));
    expect(await found()).toEqual(await printed('day', '2026-01-01', '2026-02-03'));
  });

  it('leave those alone that they did not name, or whose range is another', async () => {
    await makeTable();
    const end = (day: string): bigint => layout.idFloor(new Date(day));
    const own = [
      ['p2026_01', end('2026-01-01'), end('2026-01-31')],
      ['history', end('2026-02-01'), end('2026-03-01')],
      ['p2026_03', end('2026-03-01'), end('2026-04-01')],
      ['p2026_13', end('2026-04-01'), end('2026-05-01')],
      ['p2026_05_01', end('2026-05-01'), end('2026-06-01')],
      ['summer', end('2026-06-01'), end('2026-09-01')],
    ] as const;
    if (isPostgres) {
      await run([
        ...own.map(
          ([name, first, last]) =>
            `CREATE TABLE orders_${name} PARTITION OF orders FOR VALUES FROM (${first}) TO (${last})`,
        ),
        'CREATE TABLE orders_pdefault PARTITION OF orders DEFAULT',
        // Tables that only look like partitions.
        'CREATE TABLE orders_p2026_02 (id bigint)',
      ]);
    } else {
      const list = own.map(([name, , last]) => `PARTITION ${name} VALUES LESS THAN (${last}), `).join('');
      await run([`ALTER TABLE orders PARTITION BY RANGE (id) (${list} PARTITION pmax VALUES LESS THAN MAXVALUE)`]);
    }
    await run(await upkeep('2026-11-05', 'month', '1', '1'));
    const others = own.map(([name]) => name).filter((name) => name !== 'p2026_03');
    expect(Object.keys(await found()).sort()).toEqual([...others, 'p2026_10', 'p2026_11', 'p2026_12'].sort());
    if (!isPostgres) return;
    const there = `SELECT to_regclass('orders_p2026_02') IS NOT NULL AS a, to_regclass('orders_p2026_03') IS NOT NULL AS b`;
    expect(await rows(there)).toEqual([{ a: true, b: true }]);
    // A partition that covers a part of a month is in the way, and the month is not made.
    await run(['DROP TABLE orders_p2026_12']);
    await run([
      `CREATE TABLE half PARTITION OF orders FOR VALUES FROM (${end('2026-12-10')}) TO (${end('2026-12-20')})`,
    ]);
    const before = await found();
    await expect(run(await upkeep('2026-12-05', 'month', '1', '1'))).rejects.toThrow('would overlap partition "half"');
    expect(await found()).toEqual(before);
  });

  it('of another key, and of a table without any, are refused', async () => {
    await makeTable('id bigint, customer bigint, PRIMARY KEY (id, customer)', 'customer');
    const statements = await upkeep('2027-01-01', 'month', '1', '1');
    if (!isPostgres) await expect(run(statements)).rejects.toThrow(/not made with PARTITION BY RANGE \(id\)|protocol/);
    const name = isPostgres ? 'orders_' : '';
    const [end] = (await printed('month', '2026-01', '2026-02'))['p2026_01']!.slice(1);
    await run(
      isPostgres
        ? [`CREATE TABLE ${name}p2026_01 PARTITION OF orders FOR VALUES FROM (0) TO (${end})`]
        : [
            `ALTER TABLE orders PARTITION BY RANGE (customer) (PARTITION p2026_01 VALUES LESS THAN (${end}),
             PARTITION pmax VALUES LESS THAN MAXVALUE)`,
          ],
    );
    const before = await found();
    await expect(run(statements)).rejects.toThrow(/not made with PARTITION BY RANGE \(id\)|protocol/);
    expect(await found()).toEqual(before);
  });

  it('are those of a quoted table of another schema', async () => {
    const schema = isPostgres ? `a "b's` : (database.options.database as string);
    const quote = (text: string): string => (isPostgres ? `"${text.replaceAll('"', '""')}"` : `\`${text}\``);
    const path = `${quote(schema)}.${quote("my 'orders'")}`;
    if (isPostgres) await run([`CREATE SCHEMA ${quote(schema)}`]);
    await run([
      `CREATE TABLE ${path} (${quote("the 'ID")} bigint PRIMARY KEY) ${isPostgres ? `PARTITION BY RANGE (${quote("the 'ID")})` : ''}`,
    ]);
    const flags = ['--table', path, '--column', "the 'ID", '--partitions', 'day'];
    await run(await print(kind, ...flags, '--from', '2027-12-01', '--to', '2027-12-03'));
    await run(await upkeep('2027-12-31T23:00:00Z', 'day', '2', '1', ...flags));
    const names = isPostgres
      ? `SELECT substr(c.relname, 13) AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = '${path.replaceAll("'", "''")}'::regclass ORDER BY 1`
      : `SELECT PARTITION_NAME AS name FROM information_schema.PARTITIONS
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'my ''orders''' ORDER BY 1`;
    const there = (await rows<{ name: string }>(names)).map(({ name }) => name.replace(/^_/, ''));
    expect(there).toEqual(['p2027_12_29', 'p2027_12_30', 'p2027_12_31', 'p2028_01_01', rest]);
    await run([isPostgres ? `DROP SCHEMA ${quote(schema)} CASCADE` : `DROP TABLE ${path}`]);
  });

  it('are those of the document, by the clock of the database', async () => {
    await makeTable();
    const line = /^raindrop sql .*--keep.*$/m.exec(readDocument('docs/sql.md'))![0];
    const args = line.replace(/^raindrop sql --db \w+ | > .*$/g, '').split(' ');
    const now = Date.now();
    const first = [periodAt('month', now, -1), periodAt('month', now, 0)] as const;
    await run(await print(kind, '--layout', 'number', '--partitions', 'month', '--from', first[0], '--to', first[1]));
    await run(await print(kind, ...args, ...(isPostgres ? [] : ['--drop'])));
    expect(await found()).toEqual(await wanted('month', now, 1, 3, '--layout', 'number'));
  });

  it('the settings of the session stay what they were', async () => {
    await makeTable();
    await run(await print(kind, '--partitions', 'month', '--from', '2027-01', '--to', '2027-02'));
    const settings = isPostgres
      ? `SELECT current_setting('search_path') AS a, current_setting('lock_timeout') AS b`
      : 'SELECT @@SESSION.group_concat_max_len AS a, @@SESSION.lock_wait_timeout AS b';
    const before = await rows(settings);
    const statements = await upkeep('2027-01-10', 'month', '1', '60');
    await session.startTransaction();
    await run(statements);
    expect(await rows(settings)).toEqual(before);
    await session.commitTransaction();
    expect(await rows(settings)).toEqual(before);
    expect(Object.keys(await found())).toHaveLength(61);
  });

  if (!isPostgres) {
    it('are left to another session that is at it, with an error', async () => {
      await makeTable();
      await run(await print(kind, '--partitions', 'month', '--from', '2027-01', '--to', '2027-02'));
      const statements = await upkeep('2028-02-29', 'month', '1', '1');
      const lock = statements.find((each) => each.includes('GET_LOCK'))!;
      const other = dataSource.createQueryRunner();
      try {
        await other.query(lock);
        const impatient = statements.map((each) => (each === lock ? each.replace(', 10)', ', 0)') : each));
        await expect(run(impatient)).rejects.toThrow(/another session keeps the partitions of orders|protocol/);
      } finally {
        await other.query(statements.find((each) => each.includes('RELEASE_LOCK'))!);
        await other.release();
      }
      await run(statements);
      expect(await found()).toEqual(await printed('month', '2028-01', '2028-04'));
    });

    it('are kept by an event', async () => {
      await makeTable();
      await run(await print(kind, '--partitions', 'month', '--from', '2027-01', '--to', '2027-02'));
      const body = (await upkeep('2028-02-29', 'month', '1', '1')).map((each) => `${each};`).join('\n');
      const [old] = await rows<{ is: string }>('SELECT @@GLOBAL.event_scheduler AS `is`');
      await run(['SET GLOBAL event_scheduler = ON']);
      try {
        await run([`CREATE EVENT keep_orders ON SCHEDULE EVERY 1 DAY DO BEGIN\n${body}\nEND`]);
        const expected = await printed('month', '2028-01', '2028-04');
        for (const end = Date.now() + 20_000; Date.now() < end;) {
          if (Object.keys(await found()).join() === Object.keys(expected).join()) break;
        }
        expect(await found()).toEqual(expected);
      } finally {
        await run(['DROP EVENT IF EXISTS keep_orders', `SET GLOBAL event_scheduler = ${old!.is}`]);
      }
    });
    return;
  }

  describe('of PostgreSQL', () => {
    const slept = async (columns: string): Promise<string[]> => {
      await makeTable(columns);
      await run(await print(kind, '--partitions', 'month', '--from', '2027-01', '--to', '2027-02'));
      return upkeep('2027-03-31T23:59:59Z', 'month', '9', '1');
    };

    it('are detached with their rows, and with --drop deleted', async () => {
      await makeTable();
      await run(await print(kind, '--partitions', 'month', '--from', '2027-01', '--to', '2027-05'));
      await insert(['2027-01-15', '2027-02-15'].map(idAt));
      await run(await upkeep('2027-04-01', 'month', '2', '1'));
      expect(Object.keys(await found())).toEqual(['p2027_02', 'p2027_03', 'p2027_04', 'p2027_05']);
      expect(await rows('SELECT id FROM orders_p2027_01')).toEqual([{ id: idAt('2027-01-15') }]);
      await run(await upkeep('2027-05-01', 'month', '2', '1', '--drop'));
      const there = `SELECT to_regclass('orders_p2027_01') IS NOT NULL AS a, to_regclass('orders_p2027_02') IS NOT NULL AS b`;
      expect(await rows(there)).toEqual([{ a: true, b: false }]);
    });

    it('get all of a row that was in the default: computed and identity columns, and types of any kind', async () => {
      // Partitioned tables have identity columns from 17 on.
      const identity = Number(database.version.split('.')[0]) < 17 ? 'DEFAULT 5' : 'GENERATED ALWAYS AS IDENTITY';
      const statements = await slept(`id bigint PRIMARY KEY, gone int, n int ${identity}, "a b" jsonb DEFAULT '[1]',
        twice bigint GENERATED ALWAYS AS (id * 2) STORED, price numeric(10,2) CHECK (price > 0)`);
      await run([
        'ALTER TABLE orders DROP COLUMN gone',
        `INSERT INTO orders (id, price) SELECT ${idAt('2027-02-01')} + n, n FROM generate_series(1, 500) n`,
      ]);
      const content = 'SELECT * FROM orders ORDER BY id';
      const before = await rows(content);
      expect(await rows('SELECT count(*)::int AS n FROM orders_pdefault')).toEqual([{ n: 500 }]);
      await run(statements);
      expect(await rows(content)).toEqual(before);
      expect(await rows('SELECT count(*)::int AS n FROM orders_p2027_02')).toEqual([{ n: 500 }]);
      expect(await rows('SELECT count(*)::int AS n FROM orders_pdefault')).toEqual([{ n: 0 }]);
    });

    it.each([
      [
        'a foreign key that deletes',
        'CREATE TABLE lines (order_id bigint REFERENCES orders ON DELETE CASCADE)',
        `INSERT INTO lines SELECT id FROM orders`,
        'SELECT count(*)::int AS n FROM lines',
      ],
      [
        'a trigger',
        `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'fired'; END $$;
         CREATE TRIGGER noted AFTER DELETE ON orders FOR EACH ROW EXECUTE FUNCTION note()`,
        'SELECT 1',
        'SELECT count(*)::int AS n FROM orders',
      ],
      [
        'a trigger of the default',
        `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
         CREATE TRIGGER noted BEFORE DELETE ON orders_pdefault FOR EACH ROW EXECUTE FUNCTION note()`,
        'SELECT 1',
        'SELECT count(*)::int AS n FROM orders',
      ],
      [
        'a rule',
        'CREATE RULE kept AS ON DELETE TO orders_pdefault DO INSTEAD NOTHING',
        'SELECT 1',
        'SELECT count(*)::int AS n FROM orders',
      ],
    ])('do not take rows from the default where %s would see it', async (what, schema, fill, count) => {
      const statements = await slept('id bigint PRIMARY KEY');
      await insert([idAt('2027-02-15')]);
      await run([schema, fill]);
      const before = [await found(), await placeOfRows(), await rows(count)];
      await expect(run(statements)).rejects.toThrow(
        what === 'a rule'
          ? /default partition|were deleted/
          : 'public.orders_pdefault has rows of public.orders_p2027_02, and public.orders has triggers, or foreign keys',
      );
      expect([await found(), await placeOfRows(), await rows(count)]).toEqual(before);
      // With an empty default the same are made.
      await run(what.startsWith('a foreign') ? ['DELETE FROM lines'] : ['SELECT 1']);
      await run(['TRUNCATE orders_pdefault CASCADE', ...statements]);
      expect(Object.keys(await found())).toEqual(['p2027_01', 'p2027_02', 'p2027_03', 'p2027_04']);
    });

    it('do not drop a partition to whose rows others refer', async () => {
      await makeTable('id bigint PRIMARY KEY');
      await run(await print(kind, '--partitions', 'month', '--from', '2027-01', '--to', '2027-05'));
      await insert([idAt('2027-01-15')]);
      await run(['CREATE TABLE lines (order_id bigint REFERENCES orders)', 'INSERT INTO lines SELECT id FROM orders']);
      const before = await found();
      await expect(run(await upkeep('2027-04-01', 'month', '2', '1', '--drop'))).rejects.toThrow('foreign key');
      expect(await found()).toEqual(before);
      await run(['DELETE FROM lines', ...(await upkeep('2027-04-01', 'month', '2', '1', '--drop'))]);
      expect(Object.keys(await found())).toEqual(['p2027_02', 'p2027_03', 'p2027_04', 'p2027_05']);
    });

    it('give up after ten seconds, or what the session says, behind a lock', async () => {
      const statements = await slept('id bigint PRIMARY KEY');
      const other = dataSource.createQueryRunner();
      await other.startTransaction();
      try {
        await other.query('SELECT * FROM orders');
        await run([`SET lock_timeout = '50ms'`]);
        await expect(run(statements)).rejects.toThrow('lock timeout');
      } finally {
        await other.rollbackTransaction();
        await other.release();
        await run(['RESET lock_timeout']);
      }
      await run(statements);
      expect(statements.join('')).toContain(`'lock_timeout', '10s'`);
    });

    it('end with the layout', async () => {
      await makeTable('id bigint PRIMARY KEY');
      // The IDs of Twitter end on 10 July 2080, with the bigint.
      const flags = ['--preset', 'twitter'];
      await run(await print(kind, ...flags, '--partitions', 'month', '--from', '2080-04', '--to', '2080-05'));
      await run(await upkeep('2080-05-10', 'month', '3', '5', ...flags));
      expect(await found()).toEqual(await printed('month', '2080-04', '2080-08', ...flags));
      expect((await found())['p2080_07']![1]).toBe(String(MAX_ID));
    });
  });
});
