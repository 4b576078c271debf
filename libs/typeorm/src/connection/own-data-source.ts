import { OWN_PARSERS } from '@raindrop/node/internal';
import type { DataSourceOptions } from 'typeorm';

type Options = Readonly<Record<string, unknown>>;

/** Everything about entities, schema, logging and pools, which is the application's and not the connection's. */
const NOT_OURS: Options = {
  name: undefined,
  entities: undefined,
  subscribers: undefined,
  migrations: undefined,
  migrationsRun: false,
  synchronize: false,
  dropSchema: false,
  logging: false,
  logger: undefined,
  maxQueryExecutionTime: undefined,
  cache: undefined,
  namingStrategy: undefined,
  replication: undefined,
  // What a driver writes about its statements holds tokens.
  verbose: undefined,
  debug: false,
  trace: false,
  poolSize: 1,
};

/**
 * The options of a DataSource of our own: the same database as the application's, over one connection that nobody
 * else uses. On a pool that is shared and full, renewals failed more often than not.
 *
 * With `replication` it is the master; better-sqlite3 keeps its journal mode and waits for nobody (`timeout: 0`).
 */
export function ownDataSourceOptions(
  options: DataSourceOptions,
  { opTimeoutMs }: { readonly opTimeoutMs: number },
): DataSourceOptions {
  const { type } = options;
  const given = { ...options, ...credentialsOf(options) } as Options;
  const extra = (given['extra'] ?? {}) as Options;
  return { ...given, ...NOT_OURS, ...connectionOf(type, extra, opTimeoutMs) } as unknown as DataSourceOptions;
}

function connectionOf(type: string, extra: Options, opTimeoutMs: number): Options {
  if (type === 'better-sqlite3') return { poolSize: undefined, timeout: 0, enableWAL: false, statementCacheSize: 100 };
  if (type === 'postgres') {
    return {
      connectTimeoutMS: opTimeoutMs,
      // These two would run statements of the application, or change a setting of the whole driver.
      installExtensions: false,
      parseInt8: undefined,
      // pg-native, where installed, would bring a socket that nobody can drop.
      nativeDriver: false,
      logNotifications: false,
      // A lost connection shows in the next call.
      poolErrorHandler: () => undefined,
      extra: {
        ...extra,
        types: OWN_PARSERS,
        max: 1,
        min: 0,
        poolSize: 1,
        connectionTimeoutMillis: opTimeoutMs,
        idleTimeoutMillis: 0,
        maxUses: 0,
        maxLifetimeSeconds: 0,
      },
    };
  }
  return {
    connectTimeout: opTimeoutMs,
    acquireTimeout: undefined,
    supportBigNumbers: true,
    bigNumberStrings: true,
    extra: {
      ...extra,
      connectionLimit: 1,
      maxIdle: 1,
      queueLimit: 0,
      waitForConnections: true,
      connectTimeout: opTimeoutMs,
      supportBigNumbers: true,
      bigNumberStrings: true,
      // Settings of the driver that give rows another shape.
      rowsAsArray: false,
      nestTables: false,
      namedPlaceholders: false,
      typeCast: true,
    },
  };
}

/** With replication, what the master's credentials leave out is not taken from the top level: TypeORM does not either. */
function credentialsOf(options: DataSourceOptions): Options {
  const { replication, type, ssl } = options as unknown as Options;
  if (typeof replication !== 'object' || replication === null) return {};
  const { master } = replication as { master: Options };
  const names = ['url', 'host', 'port', 'username', 'password', 'database', 'socketPath', 'applicationName'];
  const credentials = Object.fromEntries(names.map((name) => [name, master[name]]));
  // For MySQL, TypeORM reads `ssl` at the top level only.
  return { ...credentials, ssl: type === 'postgres' ? master['ssl'] : ssl };
}
