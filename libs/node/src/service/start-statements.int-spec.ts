import { OPTIONS } from '../../../../test/support/module/module-fixture.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { overBothPorts, sqlDatabase } from '../../../../test/support/stores/sql-database.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { openIdService } from './open-id-service.js';

/** Session, look, acquisition, confirmation. A MySQL without Galera refuses the first and the third statement. */
const WAITED_FOR = {
  mariadb: ['SET SESSION', 'SELECT 0', 'UPDATE', 'SELECT 0'],
  mysql: ['SET SESSION', 'SET SESSION', 'SET SESSION', 'SELECT 0', 'UPDATE', 'SELECT 0'],
  postgres: ['SELECT set_config', 'SELECT 0', 'UPDATE', 'SELECT 0'],
};

const options = { ...OPTIONS, workIdLength: 10 };

overBothPorts(() => {
  describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))('a start on %s', (kind) => {
    let database: TestDatabase;
    beforeEach(async () => {
      database = await testDatabase(kind);
      await open(sqlDatabase(database.options));
    });
    afterEach(() => database.drop());

    it('waits for no statement but these on a table that is ready, with 1,023 workers', async () => {
      const { answered, watched } = watch(sqlDatabase(database.options));
      expect(await open(watched, () => beginnings(answered))).toEqual(WAITED_FOR[kind]);
    });

    it('needs one session where there is no table yet: an error about that leads to no other address', async () => {
      const empty = await testDatabase(kind);
      const { sessions, watched } = watch(sqlDatabase(empty.options));
      expect(await open(watched, () => [...sessions])).toHaveLength(1);
      await empty.drop();
    });

    it('that finds its layout on the table waits for one more look', async () => {
      const { answered, watched } = watch(sqlDatabase(database.options));
      const found = { dbConfig: watched, logger: OPTIONS.logger! };
      const ids = await openIdService(found);
      const statements = beginnings(answered);
      await ids.close();
      expect(statements).toEqual([...WAITED_FOR[kind].slice(0, -3), 'SELECT 0', ...WAITED_FOR[kind].slice(-3)]);
    });
  });
});

async function open<T>(dbConfig: SqlDatabase, look?: () => T): Promise<T | undefined> {
  const ids = await openIdService({ ...options, dbConfig });
  const seen = look?.();
  expect(ids.nextId()).toBeGreaterThan(0n);
  await ids.close();
  return seen;
}

interface Watched {
  readonly watched: SqlDatabase;
  /** The statements that were answered. */
  readonly answered: readonly string[];
  /** The server's numbers of the sessions that were opened. */
  readonly sessions: readonly unknown[];
}

function watch(database: SqlDatabase): Watched {
  const [answered, sessions]: [string[], unknown[]] = [[], []];
  const driver: SqlDatabase['driver'] = (opTimeoutMs, sockets) => {
    const real = database.driver(opTimeoutMs, sockets);
    return {
      end: () => real.end(),
      connect: async () => {
        const connection = await real.connect();
        sessions.push(connection.session);
        const query: typeof connection.query = (sql, values) =>
          connection.query(sql, values).finally(() => answered.push(sql));
        return {
          query,
          session: connection.session,
          stream: connection.stream,
          onError: (listener) => connection.onError?.(listener),
        };
      },
    };
  };
  return { answered, sessions, watched: { ...database, driver } };
}

function beginnings(statements: readonly string[]): string[] {
  return statements.map((sql) => /^(SELECT \w+|SET SESSION|\w+)/.exec(sql)![0]);
}
