import { DataSource, type EntityManager } from 'typeorm';
import {
  databaseKinds,
  testDatabase,
  type DatabaseKind,
  type TestDatabase,
} from '../../../../test/support/servers/test-databases.js';
import { businessNumber } from './business-number.js';
import { prepareBusinessNumbers } from './prepare-business-numbers.js';
import { transactionWithRetries, type RetryOptions } from './transaction-with-retries.js';

const WRITERS = 20;
const TRANSACTIONS = 16;

/** A way of numbering within a transaction. */
type Numbering = (manager: EntityManager, series: string) => Promise<string>;

/** What the application decides against. */
class ChangeOfMind extends Error {}

describe.each(databaseKinds)('20 writers with rollbacks and deadlocks on %s', (kind) => {
  let database: TestDatabase;
  let dataSources: DataSource[];

  beforeEach(async () => {
    database = await testDatabase(kind);
    dataSources = await openAll(database);
    await dataSources[0]!.query('CREATE TABLE orders (series varchar(20), number varchar(20))');
    await prepareBusinessNumbers(dataSources[0]!);
  });

  afterEach(async () => {
    await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
    await database.drop();
  });

  it.each(isolationLevels(kind))(
    'number without gap and repetition (%s)',
    async (isolationLevel) => {
      // Every transaction that has to wait there starts again.
      const isSlow = kind === 'postgres' && isolationLevel !== 'READ COMMITTED';
      const transactions = isSlow ? 8 : TRANSACTIONS;
      const { committed, changesOfMind, runs } = await numberOrders(
        dataSources,
        ours,
        { isolationLevel },
        transactions,
      );
      expect(changesOfMind).toBeGreaterThan(20);
      expect(runs).toBeGreaterThan(WRITERS * transactions);
      const wanted = Array.from({ length: committed }, (_, index) => index + 1);
      expect(await storedNumbers(dataSources[0]!, 'A')).toEqual(wanted);
      expect(await storedNumbers(dataSources[0]!, 'B')).toEqual(wanted);
    },
    120_000,
  );

  it('leave gaps when the number is allocated in a transaction of its own', async () => {
    const apart: Numbering = (_, series) =>
      transactionWithRetries(dataSources.at(-1)!, (own) => businessNumber(own, '{seq}', { name: series }));
    if (kind === 'sqlite') {
      // Two writers at once are impossible there: the number is allocated first.
      await dataSources[0]!.transaction((manager) => ours(manager, 'A'));
      await expect(changeMind(dataSources[0]!, () => apart(dataSources[0]!.manager, 'A'))).rejects.toThrow(
        ChangeOfMind,
      );
      expect(await dataSources[0]!.transaction((manager) => ours(manager, 'A'))).toBe('3');
      return;
    }
    const { committed } = await numberOrders(dataSources.slice(0, -1), apart);
    const stored = await storedNumbers(dataSources[0]!, 'A');
    expect(new Set(stored).size).toBe(committed);
    expect(stored.at(-1)).toBeGreaterThan(committed);
  });

  if (kind !== 'sqlite') {
    it('repeat numbers with SELECT MAX(...) + 1', async () => {
      const greatest: Numbering = async (manager, series) => {
        const sql = `SELECT COALESCE(MAX(CAST(number AS decimal(20))), 0) + 1 AS next FROM orders WHERE series = '${series}'`;
        return String(Number((await manager.query<{ next: string }[]>(sql))[0]!.next));
      };
      const { committed } = await numberOrders(dataSources, greatest, { isolationLevel: 'READ COMMITTED' });
      const stored = await storedNumbers(dataSources[0]!, 'A');
      expect(stored).toHaveLength(committed);
      expect(new Set(stored).size).toBeLessThan(committed);
    });
  }
});

const ours: Numbering = (manager, series) => businessNumber(manager, '{seq}', { name: series });

/** A third changes its mind; some take the numbers in the other order, which deadlocks. */
async function numberOrders(
  dataSources: readonly DataSource[],
  numbering: Numbering,
  options?: RetryOptions,
  transactions = TRANSACTIONS,
): Promise<{ committed: number; changesOfMind: number; runs: number }> {
  let runs = 0;
  let committed = 0;
  let changesOfMind = 0;
  const order = async (manager: EntityManager): Promise<void> => {
    runs++;
    const names = Math.random() < 0.95 ? ['A', 'B'] : ['B', 'A'];
    for (const series of names) {
      const number = await numbering(manager, series);
      await manager.query(`INSERT INTO orders VALUES ('${series}', '${number}')`);
    }
    if (Math.random() < 1 / 3) throw new ChangeOfMind();
  };
  const write = async (dataSource: DataSource): Promise<void> => {
    for (let index = 0; index < transactions; index++) {
      try {
        await transactionWithRetries(dataSource, order, { attempts: 100, ...options });
        committed++;
      } catch (error) {
        if (!(error instanceof ChangeOfMind)) throw error;
        changesOfMind++;
      }
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, index) => write(dataSources[index % dataSources.length]!)));
  return { committed, changesOfMind, runs };
}

async function changeMind(dataSource: DataSource, work: () => Promise<unknown>): Promise<void> {
  await dataSource.transaction(async () => {
    await work();
    throw new ChangeOfMind();
  });
}

async function storedNumbers(dataSource: DataSource, series: string): Promise<number[]> {
  const rows = await dataSource.query<{ number: string }[]>(`SELECT number FROM orders WHERE series = '${series}'`);
  return rows.map(({ number }) => Number(number)).sort((a, b) => a - b);
}

function isolationLevels(kind: DatabaseKind): NonNullable<RetryOptions['isolationLevel']>[] {
  return kind === 'sqlite' ? ['SERIALIZABLE'] : ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'];
}

/** SQLite has a connection for each DataSource, the others a pool. */
async function openAll({ kind, options }: TestDatabase): Promise<DataSource[]> {
  if (kind !== 'sqlite') {
    // PostgreSQL looks for deadlocks after a second only.
    const extra = kind === 'postgres' ? { options: '-c deadlock_timeout=10ms' } : {};
    const pool = { poolSize: WRITERS, extra };
    return Promise.all([0, 1].map(() => new DataSource({ ...options, ...pool } as typeof options).initialize()));
  }
  const dataSources: DataSource[] = [];
  for (let index = 0; index < WRITERS; index++) {
    dataSources.push(await new DataSource({ ...options, timeout: 0, enableWAL: true } as typeof options).initialize());
  }
  return dataSources;
}
