import { Layout, type ParsedId, parseId } from '@raindrop/core';
import { shapeOfFingerprint } from '@raindrop/core/internal';
import { DataSource, type QueryRunner } from 'typeorm';
import { runs } from '../../tier.js';
import { SeededRandom } from '../../support/engine/seeded-random.js';
import {
  kindsInTurn,
  testDatabase,
  type DatabaseKind,
  type TestDatabase,
} from '../../support/servers/test-databases.js';
import { readDocument } from '../../published/docs/typescript-blocks.js';
import { databaseUrl } from '../service/service-process.js';
import { jsonHere, raindropHere } from './cli-in-process.js';

interface Printed {
  readonly database: string;
  readonly layout: string;
  readonly statements: readonly string[];
  readonly notes: readonly string[];
}

const bits = (unit: string, start: string, time: number, worker: number, end: number): string[] => [
  ...['--time-unit', unit, '--start', start, '--timestamp-bits', `${time}`],
  ...['--worker-bits', `${worker}`, '--end-bits', `${end}`],
];

/** Units from a millisecond to a day, epochs within a unit and before 1970, fields in every order, 53 to 64 bits. */
const LAYOUTS: readonly (readonly [what: string, flags: readonly string[]])[] = [
  ['the default layout', bits('second', '2026-01-01', 33, 10, 1)],
  ['the layout of numbers', ['--layout', 'number']],
  ['milliseconds', bits('millisecond', '2024-02-29T12:34:56.789Z', 41, 10, 1)],
  ['milliseconds until the year 19,800', [...bits('millisecond', '2026-01-01', 49, 3, 5), '--end-value', '17']],
  ['seconds that no Date holds', bits('second', '2026-01-01', 55, 3, 0)],
  ['minutes', bits('minute', '2026-03-03T10:20:30.400Z', 27, 5, 2)],
  ['hours', bits('hour', '2026-03-03T10:20:30.400Z', 19, 8, 0)],
  ['days', bits('day', '2026-03-03T10:20:30.400Z', 15, 10, 1)],
  ['milliseconds since 1960', ['--preset', 'westid', '--start', '1960-04-23T00:00:00.001Z']],
  ['two worker fields', ['--preset', 'twitter']],
  ['a sequence above the worker, ticks of 10 ms', ['--preset', 'sonyflake']],
  ['a fixed field in the middle', ['--preset', 'uidGeneratorGlobal', '--preset-option', 'datacenterId=3']],
  ['64 bits', ['--preset', 'discord']],
  ['64 bits without a worker', ['--preset', 'tsid', '--preset-option', 'nodeBits=0']],
];

const IDS = runs(10_000);
const MOMENTS = runs(1_000);

/** MySQL and SQLite have no time after this one. */
const LAST_OF_9999_MS = Date.UTC(10_000, 0, 1) - 1;

/** What differs between the databases of a test. */
interface Family {
  readonly text: (expression: string) => string;
  /** A time that SQL answers, as `toISOString()` writes it with microseconds. */
  readonly iso: (time: string) => string;
  readonly moment: (column: string) => string;
  /** The smallest step of its times, in microseconds. */
  readonly step: bigint;
  /** Puts the session into a zone in which a wrong conversion shows. */
  readonly zone: string | undefined;
  readonly latestMs: number;
}

const POSTGRES: Family = {
  text: (each) => `(${each})::text`,
  iso: (time) => `to_char(${time} AT TIME ZONE 'UTC', 'FMYYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
  moment: (column) => `(${column} || '+00')::timestamptz`,
  step: 1n,
  zone: `SET TIME ZONE 'America/New_York'`,
  latestMs: Infinity,
};

const MYSQL: Family = {
  text: (each) => `CAST(${each} AS CHAR)`,
  iso: (time) => `DATE_FORMAT(${time}, '%Y-%m-%dT%H:%i:%s.%fZ')`,
  moment: (column) => column,
  step: 1n,
  zone: `SET time_zone = '-05:00'`,
  latestMs: LAST_OF_9999_MS,
};

const SQLITE: Family = {
  text: (each) => `CAST(${each} AS TEXT)`,
  iso: (time) => `replace(${time}, 'Z', '000Z')`,
  moment: (column) => column,
  step: 1_000n,
  zone: undefined,
  latestMs: LAST_OF_9999_MS,
};

const FAMILIES: Readonly<Record<DatabaseKind, Family>> = {
  postgres: POSTGRES,
  mariadb: MYSQL,
  mysql: MYSQL,
  sqlite: SQLITE,
};

/** What `parse()` answers; undefined for what it refuses. */
function parsed(layout: Layout, id: bigint): ParsedId | undefined {
  try {
    return parseId(layout, id);
  } catch {
    return undefined;
  }
}

/** Random IDs of every size, and those at the ends. */
function randomIds(layout: Layout, mostBits: number, random: SeededRandom): bigint[] {
  const most = 2n ** BigInt(Math.min(layout.bits, mostBits)) - 1n;
  const low = 1n << BigInt(layout.lowBits);
  const found = new Set([0n, 1n, low - 1n, low, most, most - 1n, most - low, most - low + 1n]);
  for (let large = true; found.size < IDS; large = !large) {
    const id = ((BigInt(random.bits()) << 32n) | BigInt(random.bits())) & most;
    found.add(large ? id : id >> BigInt(random.below(layout.bits)));
  }
  return [...found];
}

/** `2026-01-01 00:00:00.000001`: a time of whole microseconds. */
function textOf(us: bigint): string {
  const ms = Number(us / 1_000n) - (us % 1_000n < 0n ? 1 : 0);
  const rest = us - BigInt(ms) * 1_000n;
  const text = new Date(ms).toISOString().replace(/^\+0*/, '').replace('T', ' ').replace('Z', '');
  return `${text}${String(rest).padStart(3, '0')}`;
}

describe.each(kindsInTurn(__filename))('on %s', (kind) => {
  const family = FAMILIES[kind];
  let database: TestDatabase;
  let dataSource: DataSource;
  let session: QueryRunner;

  beforeAll(async () => {
    database = await testDatabase(kind);
    dataSource = await new DataSource(database.options).initialize();
    session = dataSource.createQueryRunner();
    if (family.zone !== undefined) await session.query(family.zone);
  });

  afterAll(async () => {
    await session.release();
    await dataSource.destroy();
    await database.drop();
  });

  async function print(...args: string[]): Promise<Printed> {
    const { code, result } = await jsonHere<Printed>(['sql', '--db', kind, ...args]);
    expect(code).toBe(0);
    return result;
  }

  async function run(statements: readonly string[]): Promise<void> {
    for (const each of statements) await session.query(each);
  }

  const rows = <T>(sql: string): Promise<T[]> => session.query(sql) as Promise<T[]>;

  /** Makes a table anew, with one column of these values. */
  async function fill(table: string, type: string, values: readonly string[]): Promise<void> {
    await run([`DROP TABLE IF EXISTS ${table}`, `CREATE TABLE ${table} (${type})`]);
    for (let at = 0; at < values.length; at += 1_000) {
      const slice = values.slice(at, at + 1_000).map((each) => `(${each})`);
      await run([`INSERT INTO ${table} VALUES ${slice.join(', ')}`]);
    }
  }

  describe.each(LAYOUTS)('of %s', (_, flags) => {
    const random = new SeededRandom(42);
    let layout: Layout;
    /** The largest integer of the column. */
    let most: bigint;
    let firstId: (moment: string) => string;

    beforeAll(async () => {
      const columns = await print(...flags, '--table', 'ids');
      layout = new Layout(shapeOfFingerprint(columns.layout)!);
      // A column of MySQL holds all of 64 bits.
      const isUnsigned = layout.bits > 63 && (kind === 'mariadb' || kind === 'mysql');
      most = 2n ** (isUnsigned ? 64n : 63n) - 1n;
      const values = randomIds(layout, isUnsigned ? 64 : 63, random).map(String);
      await fill('ids', `id bigint ${isUnsigned ? 'unsigned' : ''} PRIMARY KEY`, values);
      await run(columns.statements);
      if (kind !== 'sqlite') await run((await print(...flags)).statements);
      firstId = (moment) =>
        kind === 'sqlite' ? columns.notes[1]!.replaceAll(':moment', moment) : `raindrop_first_id(${moment})`;
    });

    it('time, worker and sequence are those of parse()', async () => {
      const time = kind === 'sqlite' ? 'raindrop_time' : 'raindrop_time(id)';
      const [worker, sequence] = ['worker', 'sequence'].map((part) => time.replace('time', part));
      const found = await rows<Record<'id' | 'time' | 'worker' | 'sequence', string | null>>(
        `SELECT ${family.text('id')} AS id, ${family.iso(time)} AS time, ${family.text(worker!)} AS worker, ` +
          `${family.text(sequence!)} AS sequence FROM ids`,
      );
      expect(found).toHaveLength(IDS);
      const wrong = found.filter((each) => {
        const parts = parsed(layout, BigInt(each.id!));
        const shown = parts !== undefined && parts.time.getTime() <= family.latestMs ? parts.time : null;
        return (
          each.time !== (shown?.toISOString().replace(/^\+0*/, '').replace('Z', '000Z') ?? null) ||
          each.worker !== (parts === undefined ? null : String(parts.workerId)) ||
          each.sequence !== (parts === undefined ? null : String(parts.sequence))
        );
      });
      expect(wrong).toEqual([]);
      if (kind === 'sqlite') return;
      const differ = ['time', 'worker', 'sequence'].map((part) => {
        const pair = [`raindrop_${part}`, `raindrop_${part}(id)`];
        return kind === 'postgres' ? pair.join(' IS DISTINCT FROM ') : `NOT (${pair.join(' <=> ')})`;
      });
      expect(await rows(`SELECT id FROM ids WHERE ${differ.join(' OR ')}`)).toEqual([]);
    });

    it('the first ID of a time is the first one whose time is not before it', async () => {
      const { step, latestMs } = family;
      const unit = BigInt(layout.unitMs) * 1_000n;
      const epoch = BigInt(layout.timeline.startOf(0)) * 1_000n;
      const offsets = [0n, step, -step, unit - step, unit, unit / 2n];
      const latest = BigInt(Math.min(latestMs, Date.UTC(270_000, 0, 1))) * 1_000n;
      const moments = [epoch - 1_000_000n, epoch - step, epoch, epoch + step, latest];
      while (moments.length < MOMENTS) {
        const tick = Math.floor(2 ** random.between(0, Math.log2(layout.maxTick)));
        const us = BigInt(layout.timeline.startOf(tick)) * 1_000n + random.pick(offsets);
        const whole = us - (us % step);
        if (whole <= latest) moments.push(whole);
      }
      await fill(
        'moments',
        'moment varchar(40)',
        moments.map((each) => `'${textOf(each)}'`),
      );
      const found = await rows<{ moment: string; first: string }>(
        `SELECT moment, ${family.text(firstId(family.moment('moment')))} AS first FROM moments`,
      );
      expect(found).toHaveLength(MOMENTS);
      const usOf = new Map(moments.map((each) => [textOf(each), each]));
      const wrong = found.filter(({ moment, first }) => {
        const id = BigInt(first);
        const isLater = (each: bigint): boolean =>
          BigInt(parsed(layout, each)?.time.getTime() ?? -8.64e15) * 1_000n >= usOf.get(moment)!;
        if (isLater(id)) return id > 0n && isLater(id - 1n);
        // No ID has such a time: the answer is above all IDs, or the last of all integers.
        return isLater(id - 1n) || !(id === most || parsed(layout, id) === undefined);
      });
      expect(wrong).toEqual([]);
    });

    it('of what is no ID, and of NULL, all is NULL', async () => {
      if (kind === 'sqlite') {
        await run(['INSERT INTO ids (id) VALUES (-1)']);
        const [none] = await rows(
          'SELECT raindrop_time AS a, raindrop_worker AS b, raindrop_sequence AS c FROM ids WHERE id < 0',
        );
        expect(none).toEqual({ a: null, b: null, c: null });
      } else {
        const given = layout.bits > 63 && kind !== 'postgres' ? ['NULL'] : ['NULL', '-1'];
        for (const each of given) {
          const calls = ['time', 'worker', 'sequence'].map((part) => `raindrop_${part}(${each}) AS ${part}`);
          expect(await rows(`SELECT ${calls.join(', ')}`)).toEqual([{ time: null, worker: null, sequence: null }]);
        }
      }
      expect(await rows(`SELECT ${firstId('NULL')} AS first`)).toEqual([{ first: null }]);
    });
  });

  it('without a layout it is the one that the worker table remembers, and the database that of the URL', async () => {
    const url = databaseUrl(database.options);
    expect((await raindropHere(['next', '--layout', 'number', '--url', url])).code).toBe(0);
    const { result } = await jsonHere<Printed>(['sql', '--url', url, '--table', 'orders']);
    expect([result.database, result.layout]).toEqual([database.options.type, '1000@1767225600:t30.w8.b1.s13.e1=0']);
    expect(result.statements).toEqual((await print('--layout', 'number', '--table', 'orders')).statements);
  });

  if (kind === 'sqlite') return;

  describe('partitions', () => {
    const isPostgres = kind === 'postgres';
    const flags = LAYOUTS[0]![1];
    const layout = new Layout(shapeOfFingerprint('1000@1767225600:t33.w10.b1.s18.e1=0')!);
    const partition = (...args: string[]): Promise<Printed> => print(...flags, '--table', 'orders', ...args);
    const between = (from: string, to: string): string =>
      `SELECT id FROM orders WHERE id >= raindrop_first_id('${from}') AND id < raindrop_first_id('${to}')`;

    /** The partitions that a query reads. */
    async function readBy(query: string): Promise<string[]> {
      const plan = await rows<Record<string, string>>(
        `EXPLAIN ${isPostgres ? '(COSTS OFF) ' : kind === 'mariadb' ? 'PARTITIONS ' : ''}${query}`,
      );
      const text = isPostgres
        ? plan.map((each) => each['QUERY PLAN']).join('\n')
        : plan.map((each) => each['partitions']).join();
      return [...new Set(text.match(/\bp(?:max|default|\d{4}_\d\d(?:_\d\d)?)\b|(?<=orders_)p\w+?(?=\b|_pkey)/g))];
    }

    /** The partition of each row. */
    async function places(names: readonly string[]): Promise<[id: bigint, name: string][]> {
      const found: [bigint, string][] = [];
      for (const name of names) {
        const from = isPostgres ? `orders_${name}` : `orders PARTITION (${name})`;
        for (const { id } of await rows<{ id: string }>(`SELECT ${family.text('id')} AS id FROM ${from}`))
          found.push([BigInt(id), name]);
      }
      return found;
    }

    beforeEach(async () => {
      await run((await print(...flags)).statements);
      const by = isPostgres ? 'PARTITION BY RANGE (id)' : '';
      await run([
        'DROP TABLE IF EXISTS orders',
        `CREATE TABLE orders (id bigint PRIMARY KEY, customer varchar(20)) ${by}`,
      ]);
    });

    it('of months hold the IDs of their month, and more can be added', async () => {
      const { statements } = await partition('--partitions', 'month', '--from', '2026-02', '--to', '2027-01');
      await run(statements);
      const random = new SeededRandom(7);
      const ids = Array.from({ length: 2_000 }, () => {
        const date = new Date(random.between(Date.UTC(2026, 0, 1), Date.UTC(2027, 5, 1)));
        return layout.idFloor(date) + BigInt(random.below(2 ** 30));
      });
      for (let month = 0; month < 17; month++)
        ids.push(layout.idFloor(Date.UTC(2026, month)), layout.idFloor(Date.UTC(2026, month)) - 1n);
      const legal = [...new Set(ids)].filter((id) => id >= 0n);
      const insert = (rows: readonly bigint[]): Promise<void> =>
        run([`INSERT INTO orders (id) VALUES ${rows.map((id) => `(${id})`).join(', ')}`]);
      const end = layout.idFloor(Date.UTC(2027, 0));
      await insert(legal.filter((id) => id < end || !isPostgres));
      const added = await partition('--partitions', 'month', '--from', '2027-01', '--ahead', '3');
      if (isPostgres) {
        // The default has an ID of that month.
        await insert([end]);
        await expect(run(added.statements)).rejects.toThrow(/default partition/);
        await run([`DELETE FROM orders WHERE id = ${end}`, ...added.statements, ...added.statements]);
        await insert(legal.filter((id) => id >= end));
      } else {
        await run(added.statements);
        await expect(run(added.statements)).rejects.toThrow(/partition/i);
      }

      const months = Array.from({ length: 14 }, (_, index) =>
        new Date(Date.UTC(2026, index + 1)).toISOString().slice(0, 7),
      );
      const names = months.map((each) => `p${each.replace('-', '_')}`);
      const found = await places([...names, isPostgres ? 'pdefault' : 'pmax']);
      expect(found).toHaveLength(legal.length);
      const expected = (id: bigint): string => {
        const month = parseId(layout, id).time.toISOString().slice(0, 7);
        if (months.includes(month)) return `p${month.replace('-', '_')}`;
        // The first partition of MySQL holds all that is older.
        return isPostgres ? 'pdefault' : month < '2026-02' ? 'p2026_02' : 'pmax';
      };
      expect(found.filter(([id, name]) => name !== expected(id))).toEqual([]);
    });

    it('a query by time reads those of its time only, by the primary key', async () => {
      await run((await partition('--partitions', 'month', '--from', '2026-01', '--to', '2027-01')).statements);
      const zone = isPostgres ? 'Z' : '';
      expect(await readBy(between(`2026-03-01${zone}`, `2026-04-01${zone}`))).toEqual(['p2026_03']);
      expect(await readBy(between(`2026-03-15 12:00${zone}`, `2026-05-01${zone}`))).toEqual(['p2026_03', 'p2026_04']);
      expect((await readBy('SELECT id FROM orders')).length).toBe(13);
    });

    it('of weeks and days begin on Monday, and at midnight', async () => {
      for (const [period, from, names] of [
        ['week', '2026-01-14', ['p2026_01_12', 'p2026_01_19', 'p2026_01_26']],
        ['day', '2026-02-27', ['p2026_02_27', 'p2026_02_28', 'p2026_03_01']],
      ] as const) {
        await run([
          'DROP TABLE orders',
          `CREATE TABLE orders (id bigint PRIMARY KEY) ${isPostgres ? 'PARTITION BY RANGE (id)' : ''}`,
        ]);
        const to = period === 'week' ? '2026-01-27' : '2026-03-02';
        await run((await partition('--partitions', period, '--from', from, '--to', to)).statements);
        expect(await readBy('SELECT id FROM orders')).toEqual([...names, isPostgres ? 'pdefault' : 'pmax']);
      }
    });

    it('what the document shows works', async () => {
      const [, query] = /^```sql\n([\s\S]*?)^```$/m.exec(readDocument('docs/sql.md'))!;
      await run((await partition('--partitions', 'month', '--from', '2026-01', '--to', '2027-01')).statements);
      // The times of MySQL have no zone.
      const text = isPostgres ? query! : query!.replaceAll('+00', '');
      const statements = text.split(';').filter((each) => each.trim() !== '');
      for (const each of statements) await run([each]);
      expect(await readBy(statements[0]!)).toEqual(['p2026_03']);
    });
  });
});

it('PostgreSQL makes the functions a part of the query, indexes them, and skips partitions also for now()', async () => {
  const database = await testDatabase('postgres');
  const dataSource = await new DataSource(database.options).initialize();
  try {
    const plan = async (query: string): Promise<string> => {
      const lines = await dataSource.query<Record<string, string>[]>(`EXPLAIN (VERBOSE, COSTS OFF) ${query}`);
      return lines.map((each) => each['QUERY PLAN']).join('\n');
    };
    for (const [, flags] of LAYOUTS) {
      const { result } = await jsonHere<Printed>(['sql', '--db', 'postgres', ...flags]);
      for (const each of result.statements) await dataSource.query(each);
      await dataSource.query('DROP TABLE IF EXISTS ids');
      await dataSource.query('CREATE TABLE ids (id bigint, made timestamptz)');
      await dataSource.query('CREATE INDEX ON ids (raindrop_time(id)); CREATE INDEX ON ids (raindrop_worker(id))');
      const calls = ['time(id)', 'worker(id)', 'sequence(id)', 'first_id(made)'].map((each) => `raindrop_${each}`);
      expect(await plan(`SELECT ${calls.join(', ')} FROM ids`)).not.toContain('raindrop_');
      await dataSource.query('SET enable_seqscan = off');
      expect(await plan('SELECT id FROM ids WHERE raindrop_worker(id) = 7')).toContain('ids_raindrop_worker_idx');
    }
    await dataSource.query('CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id)');
    const range = ['--partitions', 'month', '--from', '2026-01', '--to', '2027-01'];
    const { result } = await jsonHere<Printed>([
      'sql',
      '--db',
      'postgres',
      ...LAYOUTS[0]![1],
      '--table',
      'orders',
      ...range,
    ]);
    const functions = await jsonHere<Printed>(['sql', '--db', 'postgres', ...LAYOUTS[0]![1]]);
    const usual = await jsonHere<Printed & { layout: string }>(['sql', '--db', 'postgres']);
    expect(usual.result.layout).toBe('1000@1767225600:t33.w10.b1.s18.e1=0');
    for (const each of [...functions.result.statements, ...result.statements]) await dataSource.query(each);
    // A cast of a date depends on the session's time zone, as now() depends on the moment.
    expect(
      await plan(`SELECT id FROM orders WHERE id >= raindrop_first_id('2026-11-15'::date::timestamptz)`),
    ).toContain('Subplans Removed: 10');
  } finally {
    await dataSource.destroy();
    await database.drop();
  }
});
