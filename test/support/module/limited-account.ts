import type { DatabaseSettings } from '../../../libs/node/src/drivers/database-settings.js';
import { randomBytes } from 'node:crypto';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { SqlServerKind } from '../servers/database-admin.js';

/** Connection options of a server's database. */
export type ServerOptions = Extract<DataSourceOptions, { type: 'mysql' | 'mariadb' | 'postgres' }> & DatabaseSettings;

/** An account on a server that may read one database, and nothing more until it is told so. */
export interface LimitedAccount {
  readonly options: ServerOptions;
  mayCreate(): Promise<void>;
  /** Ends its connections, and refuses new ones until {@link unlock}. */
  lock(): Promise<void>;
  unlock(): Promise<void>;
  /** To be called when the database is gone, and with it what belongs to the account. */
  drop(): Promise<void>;
}

/** Creates it on the database's server, whose administrator `admin` is. */
export async function limitedAccount(
  kind: SqlServerKind,
  admin: ServerOptions,
  password: string,
): Promise<LimitedAccount> {
  const name = `raindrop_${randomBytes(6).toString('hex')}`;
  const options = { ...admin, username: name, password } as ServerOptions;
  const run = kind === 'postgres' ? asAdmin({ ...admin, database: 'postgres' }) : asAdmin(admin);
  if (kind === 'postgres') {
    await run(`CREATE USER ${name} PASSWORD '${password}'`);
    return {
      options,
      mayCreate: () => asAdmin(admin)(`GRANT CREATE ON SCHEMA public TO ${name}`),
      lock: () =>
        run(
          `ALTER USER ${name} NOLOGIN`,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`,
        ),
      unlock: () => run(`ALTER USER ${name} LOGIN`),
      drop: () => run(`DROP USER ${name}`),
    };
  }
  const account = `'${name}'@'%'`;
  const anywhere = asAdmin({ ...admin, database: undefined });
  await run(`CREATE USER ${account} IDENTIFIED BY '${password}'`, `GRANT SELECT ON ${admin.database}.* TO ${account}`);
  return {
    options,
    mayCreate: () => run(`GRANT ALL ON ${admin.database}.* TO ${account}`),
    lock: () => run(`ALTER USER ${account} IDENTIFIED BY 'another'`, `KILL USER '${name}'`),
    unlock: () => run(`ALTER USER ${account} IDENTIFIED BY '${password}'`),
    drop: () => anywhere(`DROP USER ${account}`),
  };
}

function asAdmin(options: ServerOptions): (...statements: string[]) => Promise<void> {
  return async (...statements) => {
    const source = await new DataSource(options).initialize();
    try {
      for (const each of statements) await source.query(each);
    } finally {
      await source.destroy();
    }
  };
}
