import { createConnection, type Connection } from 'mysql2/promise';
import type { SqlServerKind } from '../servers/database-admin.js';
import type { PrivateServer } from '../servers/private-server.js';
import { startMariadb, startPostgres } from '../servers/private-servers.js';
import { serverAddress } from '../servers/server-address.js';
import { withMysqlSession, withPostgresSession, type RunSql } from '../servers/sql-session.js';

const ADMIN_MS = 30_000;
/** The least that MariaDB takes for max_connections. */
const FEW = 10;

/** A server that can be told to refuse an account's connections, and to end those it has. */
export interface RefusingServer {
  readonly kind: SqlServerKind;
  readonly url: string;
  readonly refusals: readonly RealRefusal[];
  run(...statements: string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Who is refused. */
export interface RefusedAccount {
  readonly name: string;
  readonly password: string;
  readonly database: string;
}

/** One way in which it refuses. */
export interface RealRefusal {
  readonly title: string;
  readonly driverCode: string;
  begin(account: RefusedAccount): Promise<void>;
  end(account: RefusedAccount): Promise<void>;
}

/** A MariaDB of a test's own. */
export async function refusingMariadb(): Promise<RefusingServer> {
  const server = await startMariadb();
  const run = runOn(server, withMysqlSession);
  const fillers: Connection[] = [];
  const fill = async ({ name, password }: RefusedAccount): Promise<void> => {
    const { host, port } = serverAddress(server.url, 0);
    for (;;) fillers.push(await createConnection({ host, port, user: name, password }));
  };
  return {
    kind: 'mariadb',
    url: server.url,
    run,
    stop: () => server.stop(),
    refusals: [
      {
        title: '1040, too many connections',
        driverCode: 'ER_CON_COUNT_ERROR',
        async begin(account) {
          // The administrator has a place of his own beside them.
          await run(`SET GLOBAL max_connections = ${FEW}`, `KILL USER '${account.name}'`);
          await fill(account).catch((error: unknown) => {
            if ((error as { errno?: number }).errno !== 1040) throw error;
          });
        },
        async end() {
          for (const each of fillers.splice(0)) each.destroy();
          await run('SET GLOBAL max_connections = 300');
        },
      },
      {
        title: '1045, another password',
        driverCode: 'ER_ACCESS_DENIED_ERROR',
        begin: ({ name }) => run(`ALTER USER '${name}'@'%' IDENTIFIED BY 'another'`, `KILL USER '${name}'`),
        end: ({ name, password }) => run(`ALTER USER '${name}'@'%' IDENTIFIED BY '${password}'`),
      },
      {
        title: '1049, no such database',
        driverCode: 'ER_BAD_DB_ERROR',
        begin: ({ name, database }) => run(`DROP DATABASE ${database}`, `KILL USER '${name}'`),
        end: ({ database }) => run(`CREATE DATABASE ${database}`),
      },
    ],
  };
}

/** A PostgreSQL of a test's own, which asks everybody but its administrator for a password. */
export async function refusingPostgres(): Promise<RefusingServer> {
  const server = await startPostgres();
  const run = runOn(server, withPostgresSession);
  const rules = ['host all postgres 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256'];
  await withPostgresSession(serverAddress(server.url, 0), ADMIN_MS, async (ask) => {
    const [file] = await ask('SHOW hba_file');
    await ask(`COPY (VALUES ${rules.map((each) => `('${each}')`).join(', ')}) TO '${String(file!['hba_file'])}'`);
  });
  await server.restart();
  const endAll = (name: string): string =>
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`;
  return {
    kind: 'postgres',
    url: server.url,
    run,
    stop: () => server.stop(),
    refusals: [
      {
        title: '53300, too many connections',
        driverCode: '53300',
        begin: ({ name }) => run(`ALTER ROLE ${name} CONNECTION LIMIT 0`, endAll(name)),
        end: ({ name }) => run(`ALTER ROLE ${name} CONNECTION LIMIT -1`),
      },
      {
        title: '28P01, another password',
        driverCode: '28P01',
        begin: ({ name }) => run(`ALTER ROLE ${name} PASSWORD 'another'`, endAll(name)),
        end: ({ name, password }) => run(`ALTER ROLE ${name} PASSWORD '${password}'`),
      },
      {
        title: '3D000, no such database',
        driverCode: '3D000',
        begin: ({ name, database }) => run(`DROP DATABASE ${database} WITH (FORCE)`, endAll(name)),
        end: ({ name, database }) => run(`CREATE DATABASE ${database} OWNER ${name}`),
      },
    ],
  };
}

function runOn(server: PrivateServer, session: typeof withMysqlSession): RefusingServer['run'] {
  const { password, ...address } = serverAddress(server.url, 0);
  return (...statements) =>
    session({ ...address, password }, ADMIN_MS, async (run: RunSql) => {
      for (const each of statements) await run(each);
    });
}
