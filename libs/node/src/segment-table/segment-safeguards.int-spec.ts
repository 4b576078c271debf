import { DataSource, type QueryResult } from 'typeorm';
import { noteBusyAttempts } from '../../../../test/support/stores/busy-sqlite.js';
import { openSegmentStore } from '../../../../test/support/stores/open-segment-store.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { isOfNodeSqlite } from '../../../../test/support/servers/sqlite-connection.js';
import { until } from '../../../../test/support/until.js';
import type { Statement, StatementResult } from '../database/dialect.js';
import { dialectOf } from '../database/supported-database.js';
import { returnNumbers, reserveNumbers, reservedUpTo, type RowAddress } from './segment-statements.js';
import { UnstorableCodeError, type SqlSegmentStore } from './sql-segment-store.js';

// Not beside Node's own SQLite: `others` is TypeORM's, and two copies in one process do not see each other's locks.
const describeOverTypeorm = isOfNodeSqlite ? describe.skip : describe;

/** What would happen without the safeguards, beside what happens with them. */
describeOverTypeorm.each(databaseKinds)('on %s', (kind) => {
  let database: TestDatabase;
  let others: DataSource;
  let store: SqlSegmentStore;
  const code = 'orders';

  beforeEach(async () => {
    database = await testDatabase(kind);
    others = await new DataSource(database.options).initialize();
    store = openSegmentStore(database.options);
    await store.prepare();
    await store.source(code).reserve({ count: 1, above: 0n });
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await store.close();
    await others.destroy();
    await database.drop();
  });

  const address = (): RowAddress => {
    // What tells the server is set for connections of ours alone.
    const dialect = { ...dialectOf(database.options.type), termOfWrite: `'a server'` };
    return { dialect, name: { schema: undefined, name: 'raindrop_segment' }, key: { code } };
  };

  async function execute(statement: Statement, runner = others.createQueryRunner()): Promise<StatementResult> {
    const bound = statement.values.map((value) => address().dialect.bind(value));
    const result = (await runner.query(statement.sql, bound, true)) as QueryResult<Record<string, unknown>>;
    const answer = result.raw as { insertId?: unknown } | undefined;
    return { records: result.records, affected: result.affected, insertId: answer?.insertId };
  }

  /** As it is on a server that was never replaced. */
  const ON_SERVER = { failoverNumber: 0n, serverFailoverNumber: 0n, term: 'a server' };

  async function rowNow(): Promise<{ maxId: bigint; version: bigint }> {
    const sql = `SELECT CAST(max_id AS char(20)) AS max_id, CAST(version AS char(20)) AS version FROM raindrop_segment`;
    const [row] = await others.query<{ max_id: string; version: string }[]>(sql);
    return { maxId: BigInt(row!.max_id.trim()), version: BigInt(row!.version.trim()) };
  }

  describe("a transaction of the caller's that is rolled back", () => {
    it('takes no reservation back that was made meanwhile', async () => {
      const source = store.source(code);
      const transaction = others.createQueryRunner();
      await transaction.query('CREATE TABLE invoice (id integer)');
      await transaction.startTransaction();
      await transaction.query('INSERT INTO invoice VALUES (1)');
      // SQLite has one writer: there the reservation waits for the end of the transaction.
      const waits = kind === 'sqlite' ? noteBusyAttempts() : undefined;
      const reserving = source.reserve({ count: 10, above: 0n });
      if (waits === undefined) await reserving;
      else await until('it to find SQLite busy', () => waits.length > 0);
      await transaction.rollbackTransaction();
      await transaction.release();
      expect(await reserving).toMatchObject({ first: 2n, last: 11n });
      expect((await rowNow()).maxId).toBe(11n);
      expect(await store.source(code).reserve({ count: 1, above: 0n })).toMatchObject({ first: 12n });
    });

    it('would take it back if the statement were run inside: the control', async () => {
      const reservation = reserveNumbers(address(), {
        row: { step: 1_000, maxLimitId: 0n, ...ON_SERVER },
        above: 0n,
        skip: 0n,
        count: 10n,
        ceiling: 1_000_000n,
        version: 1n,
      });
      const transaction = others.createQueryRunner();
      await transaction.startTransaction();
      expect(reservedUpTo(address().dialect, await execute(reservation, transaction))).toBe(11n);
      await transaction.rollbackTransaction();
      await transaction.release();
      expect(await store.source(code).reserve({ count: 10, above: 0n })).toMatchObject({ first: 2n, last: 11n });
    });
  });

  describe('a give-back that is executed a second time, after others reserved and gave back', () => {
    /** 1 to 1,000 is ours and unused from 501; the statement that says so was sent twice. */
    async function executeTwice(hasVersion: boolean): Promise<bigint> {
      await store.source(code).reserve({ count: 999, above: 0n });
      const { version } = await rowNow();
      const versions = hasVersion ? { expected: version, next: 77n } : undefined;
      const givingBack = returnNumbers(address(), { taken: ON_SERVER, last: 1_000n, maxId: 500n, versions });
      await execute(givingBack);
      const other = openSegmentStore(database.options);
      const source = other.source(code);
      expect(await source.reserve({ above: 0n })).toMatchObject({ first: 501n, last: 1_500n });
      expect(await source.giveBack({ first: 1_001n, last: 1_500n })).toBe(true);
      await other.close();
      await execute(givingBack);
      return (await store.source(code).reserve({ count: 1, above: 0n })).first;
    }

    it('changes nothing', async () => {
      expect(await executeTwice(true)).toBe(1_001n);
    });

    it('would repeat 501 if it did not look at the version: the control', async () => {
      expect(await executeTwice(false)).toBe(501n);
    });
  });

  describe('a table that has lost the last write', () => {
    const lose = (): Promise<unknown> => others.query('UPDATE raindrop_segment SET max_id = 1');

    it('repeats no number of a process that says what it has', async () => {
      const source = store.source(code);
      const { last } = await source.reserve({ above: 0n });
      await lose();
      expect(await source.reserve({ above: last })).toMatchObject({ first: last + 1n });
    });

    it('repeats them for one that does not: the control', async () => {
      const source = store.source(code);
      const { first } = await source.reserve({ above: 0n });
      await lose();
      expect(await source.reserve({ above: 0n })).toMatchObject({ first });
    });
  });

  describe('two reservations of which the second begins before the first has its answer', () => {
    it('are apart', async () => {
      const segments = await Promise.all([1, 2].map(() => store.source(code).reserve({ count: 10, above: 0n })));
      expect(segments.map(({ last }) => last).sort()).toEqual([11n, 21n]);
    });

    it('would be the same if each read its end in a statement of its own: the control', async () => {
      const reserve = (): Promise<unknown> => others.query('UPDATE raindrop_segment SET max_id = max_id + 10');
      await reserve();
      await reserve();
      const lasts = [(await rowNow()).maxId, (await rowNow()).maxId];
      expect(lasts).toEqual([21n, 21n]);
    });
  });

  it('a give-back on a table that has gone back in time changes nothing', async () => {
    const source = store.source(code);
    await source.reserve({ count: 999, above: 0n });
    await others.query('UPDATE raindrop_segment SET max_id = 1, version = 0');
    const other = openSegmentStore(database.options);
    // The same numbers again: that is lost. But it gets no worse.
    expect(await other.source(code).reserve({ count: 999, above: 0n })).toMatchObject({ first: 2n, last: 1_000n });
    expect(await source.giveBack({ first: 501n, last: 1_000n })).toBe(false);
    await other.close();
  });

  it.each([
    ['max_id', '-1'],
    ['step', '0'],
    ['step', '-1000'],
    ['max_limit_id', '-5'],
    ...(kind === 'sqlite'
      ? [
          ['max_id', '1.5'],
          ['max_id', "'many'"],
          ['max_id', "x'3132'"],
          ['step', '9223372036854775807'],
          ['step', '2.5'],
        ]
      : []),
  ])('a row with %s = %s is refused by row and column, and is left as it is', async (column, value) => {
    const corrupt = { errorCode: 'CORRUPT_SEGMENT_ROW', row: 'code "orders"', column, retryable: false };
    const running = store.source(code);
    await running.reserve({ count: 1, above: 0n });
    await others.query(`UPDATE raindrop_segment SET ${column} = ${value}`);
    const before = await others.query<unknown>('SELECT * FROM raindrop_segment');
    await expect(store.source(code).reserve({ count: 1, above: 0n })).rejects.toMatchObject(corrupt);
    await expect(running.reserve({ above: 0n })).rejects.toMatchObject(corrupt);
    expect(await others.query<unknown>('SELECT * FROM raindrop_segment')).toEqual(before);
  });

  it.each(['max_id', 'step', 'max_limit_id'])(
    'a row without %s, in a table made by hand, is refused',
    async (column) => {
      const table = `CREATE TABLE loose (code varchar(128) PRIMARY KEY, max_id bigint, step int, max_limit_id bigint,
      description varchar(9), version bigint, create_time varchar(40), update_time varchar(40))`;
      await others.query(table);
      await others.query(`INSERT INTO loose (code, max_id, step, max_limit_id) VALUES ('orders', 5, 10, 0)`);
      const loose = openSegmentStore(database.options, { tableName: 'loose' });
      await loose.prepare();
      await others.query(`UPDATE loose SET ${column} = NULL`);
      await expect(loose.source(code).reserve({ above: 0n })).rejects.toMatchObject({
        errorCode: 'CORRUPT_SEGMENT_ROW',
        column,
      });
      await loose.close();
    },
  );

  it('a second row of the same code, in a table made by hand, is refused', async () => {
    await others.query(`CREATE TABLE twofold (code varchar(128), max_id bigint, step int, max_limit_id bigint,
      description varchar(9), version bigint, create_time varchar(40), update_time varchar(40))`);
    const twofold = openSegmentStore(database.options, { tableName: 'twofold' });
    await twofold.prepare();
    await others.query(`INSERT INTO twofold (code, max_id, step, max_limit_id) VALUES ('orders', 5, 10, 0)`);
    const running = twofold.source(code);
    await running.reserve({ above: 0n });
    await others.query(`INSERT INTO twofold (code, max_id, step, max_limit_id) VALUES ('orders', 5, 10, 0)`);
    await expect(running.reserve({ above: 0n })).rejects.toMatchObject({ retryable: true });
    await expect(twofold.source(code).reserve({ above: 0n })).rejects.toMatchObject({
      errorCode: 'CORRUPT_SEGMENT_ROW',
      column: 'code',
      retryable: false,
    });
    await twofold.close();
  });

  it.each(['', 'x'.repeat(129), 'a\0b', 'a\ud800'])('the code %j is refused', (unstorable) => {
    expect(() => store.source(unstorable)).toThrow(UnstorableCodeError);
  });
});

describe('a table made by hand on MariaDB that tells no case', () => {
  it('is refused before two codes share its row', async () => {
    const database = await testDatabase('mariadb');
    const others = await new DataSource(database.options).initialize();
    await others.query(`CREATE TABLE raindrop_segment (code varchar(128) PRIMARY KEY, max_id bigint, step int,
      max_limit_id bigint, description varchar(9), version bigint, create_time datetime(6), update_time datetime(6))`);
    const store = openSegmentStore(database.options);
    await store.prepare();
    await store.source('Orders').reserve({ above: 0n });
    for (const other of ['orders', 'Orders ']) {
      await expect(store.source(other).reserve({ above: 0n })).rejects.toMatchObject({
        errorCode: 'CORRUPT_SEGMENT_ROW',
        column: 'code',
        retryable: false,
      });
    }
    await store.close();
    await others.destroy();
    await database.drop();
  });
});
