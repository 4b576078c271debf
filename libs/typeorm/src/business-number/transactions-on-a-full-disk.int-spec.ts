import Sqlite from 'better-sqlite3';
import { join } from 'node:path';
import { Column, DataSource, Entity, type DataSourceOptions, type EntityManager } from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { smallDisk, type SmallDisk } from '../../../../test/support/servers/small-disk.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { businessNumber } from './business-number.js';
import { prepareBusinessNumbers } from './prepare-business-numbers.js';
import { attachSnowflakes } from '../generated-snowflake/attach-snowflakes.js';
import { GeneratedSnowflake } from '../generated-snowflake/generated-snowflake.decorator.js';
import { transactionWithRetries } from './transaction-with-retries.js';

/** Needs pages of its own. */
const NOTE = 'x'.repeat(5_000);

const MANY_ROWS = 'WITH RECURSIVE n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i, ? FROM n';

type Work = (manager: EntityManager) => Promise<string>;

/** Ways to run one transaction. */
const WAYS: Record<string, (dataSource: DataSource, work: Work) => Promise<string>> = {
  'dataSource.transaction()': (dataSource, work) => dataSource.transaction(work),
  'transactionWithRetries()': (dataSource, work) => transactionWithRetries(dataSource, work),
  'a nested transaction': (dataSource, work) => dataSource.transaction((manager) => manager.transaction(work)),
  'a query runner': async (dataSource, work) => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    try {
      const number = await work(runner.manager);
      await runner.commitTransaction();
      return number;
    } catch (error) {
      await runner.rollbackTransaction();
      throw error;
    } finally {
      await runner.release();
    }
  },
};

@Entity()
class Note {
  @GeneratedSnowflake()
  id!: string;

  @Column('text')
  text!: string;
}

async function inTurn<T>(times: number, call: () => Promise<T>): Promise<PromiseSettledResult<T>[]> {
  const outcomes: PromiseSettledResult<T>[] = [];
  for (let index = 0; index < times; index++) outcomes.push(...(await Promise.allSettled([call()])));
  return outcomes;
}

describe.each(['wal', 'delete'])('SQLite (journal mode %s)', (mode) => {
  let database: TestDatabase;
  let disk: SmallDisk | undefined;
  let file: string;
  let dataSource: DataSource;

  afterEach(async () => {
    if (dataSource.isInitialized) await dataSource.destroy();
    disk?.remove();
    disk = undefined;
    await database.drop();
  });

  async function open(
    where: 'a tmpfs' | 'max_page_count',
    entities: (typeof Note)[] = [],
  ): Promise<{ fill(): unknown; free(): unknown }> {
    database = await testDatabase('sqlite');
    if (where === 'a tmpfs') disk = smallDisk();
    file = disk === undefined ? String(database.options.database) : join(disk.directory, 'full.sqlite');
    const options = { type: 'better-sqlite3', database: file, enableWAL: mode === 'wal', entities };
    dataSource = await new DataSource(options as DataSourceOptions).initialize();
    await dataSource.query('CREATE TABLE invoice (number integer PRIMARY KEY, note text)');
    if (disk !== undefined) return disk;
    const limit = (pages: number): Promise<unknown> => dataSource.query(`PRAGMA max_page_count = ${pages}`);
    // No less than it has now.
    return { fill: () => limit(1), free: () => limit(1_000_000) };
  }

  const invoice: Work = async (manager) => {
    const number = await businessNumber(manager, '{seq}');
    await manager.query('INSERT INTO invoice VALUES (?, ?)', [Number(number), NOTE]);
    return number;
  };

  /** The numbers that were given out, and how many calls failed. */
  async function write(way: (typeof WAYS)[string], times: number): Promise<{ numbers: number[]; failed: number }> {
    const outcomes = await inTurn(times, () => way(dataSource, invoice));
    const numbers = outcomes.flatMap((each) => (each.status === 'fulfilled' ? Number(each.value) : []));
    return { numbers, failed: times - numbers.length };
  }

  /** What a process finds that opens the file later. */
  function stored(table = 'invoice', column = 'number'): unknown[] {
    const reopened = new Sqlite(file);
    const rows = reopened.prepare(`SELECT ${column} FROM ${table} ORDER BY 1`).pluck().all();
    reopened.close();
    return rows;
  }

  /** Whether no connection keeps the file locked. */
  function canWrite(): boolean {
    const other = new Sqlite(file, { timeout: 0 });
    try {
      other.exec('BEGIN IMMEDIATE; COMMIT');
      return true;
    } catch {
      return false;
    } finally {
      other.close();
    }
  }

  describe.each(['a tmpfs', 'max_page_count'] as const)('filled through %s', (where) => {
    it.each(Object.keys(WAYS))('keeps what %s has acknowledged, and goes on when there is room again', async (name) => {
      const way = WAYS[name]!;
      const { fill, free } = await open(where);
      await prepareBusinessNumbers(dataSource);
      const before = await write(way, 3);
      await fill();
      const full = await write(way, 10);
      await free();
      const after = await write(way, 5);
      const given = [...before.numbers, ...full.numbers, ...after.numbers];
      expect(full.failed).toBeGreaterThan(0);
      expect(after.failed).toBe(0);
      expect(given).toEqual(given.map((_, index) => index + 1));

      const couldWrite = canWrite();
      await dataSource.destroy();
      expect(stored()).toEqual(given);
      // Of the lease's own connection.
      expect(couldWrite).toBe(true);
    });
  });

  it('keeps the entities that were saved through an attached service', async () => {
    const { fill, free } = await open('a tmpfs', [Note]);
    await dataSource.query('CREATE TABLE note (id bigint PRIMARY KEY, text text)');
    attachSnowflakes(dataSource, snowflakeSource());
    const save = (times: number): Promise<PromiseSettledResult<Note>[]> =>
      inTurn(times, () => dataSource.getRepository(Note).save({ text: NOTE }));
    const before = await save(2);
    fill();
    const full = await save(5);
    free();
    const after = await save(2);
    expect(full.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    expect(after.filter(({ status }) => status === 'rejected')).toEqual([]);
    await dataSource.destroy();
    const saved = [...before, ...full, ...after].flatMap((each) => (each.status === 'fulfilled' ? each.value.id : []));
    expect(stored('note', 'CAST(id AS text)')).toEqual(saved);
  });

  it('writes nothing more for who goes on behind an error', async () => {
    const { fill, free } = await open('a tmpfs');
    await prepareBusinessNumbers(dataSource);
    const lost = { errorCode: 'TRANSACTION_LOST', retryable: true };
    let others = 0;
    const work = dataSource.transaction(async (manager) => {
      fill();
      // In WAL mode SQLite would not write before the commit, were this not too much for its memory.
      await manager.query('PRAGMA cache_size = 10');
      const insert = mode === 'wal' ? `INSERT INTO invoice ${MANY_ROWS}` : 'INSERT INTO invoice VALUES (10, ?)';
      await expect(manager.query(insert, [NOTE])).rejects.toThrow('disk is full');
      free();
      await expect(manager.query(`INSERT INTO invoice VALUES (1, '')`)).rejects.toMatchObject(lost);
      await expect(manager.transaction(() => Promise.resolve())).rejects.toMatchObject(lost);
      // Everybody else goes on.
      others = (await dataSource.query<unknown[]>('SELECT * FROM invoice')).length;
      await dataSource.transaction((other) => other.query(`INSERT INTO invoice VALUES (2, '')`));
    });
    await expect(work).rejects.toMatchObject(lost);
    expect(others).toBe(0);
    expect((await write(WAYS['dataSource.transaction()']!, 1)).numbers).toEqual([1]);
    await dataSource.destroy();
    expect(stored()).toEqual([1, 2]);
  });

  it('frees a query runner that was stuck before our first call', async () => {
    const { fill, free } = await open('max_page_count');
    await fill();
    const note: Work = (manager) => manager.query('INSERT INTO invoice VALUES (?, ?)', [0, NOTE]);
    await expect(dataSource.transaction(note)).rejects.toMatchObject({ driverError: { code: 'SQLITE_FULL' } });
    await free();
    expect(dataSource.createQueryRunner().isTransactionActive).toBe(true);
    await prepareBusinessNumbers(dataSource);
    expect(dataSource.createQueryRunner().isTransactionActive).toBe(false);
    const { numbers } = await write(WAYS['dataSource.transaction()']!, 3);
    await dataSource.destroy();
    expect(stored()).toEqual(numbers);
    expect(numbers).toEqual([1, 2, 3]);
  });
});
