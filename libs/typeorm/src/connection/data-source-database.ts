import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm';
import {
  type ConnectionSockets,
  type Driver,
  type DriverConnection,
  DriverNotInstalledError,
  type SqlDatabase,
  type SqliteVersions,
  UnsupportedDatabaseError,
} from '@raindrop/node';
import {
  dialectOf,
  type Family,
  isFileDatabase,
  isInMemory,
  isSupportedDatabase,
  type MysqlConnection,
  mysqlConnectionOf,
  OWN_PARSERS,
  placeOf,
  refuseNonObject,
  refuseUnfit,
  requireSupported,
  sqliteDriverWarning,
  sqliteVersions,
} from '@raindrop/node/internal';

requireSupported('typeorm', () => __filename);

/**
 * Returns the database of a TypeORM DataSource, for `dbConfig` and for tables outside an application: with the same
 * driver and the same settings, over one connection of our own.
 * @param options those of the DataSource; with `replication` its master is meant
 * @param configuredBy what gave the options, for messages
 * @throws ConfigurationError when `options` is no object
 */
export function dataSourceDatabase(
  options: DataSourceOptions,
  configuredBy: string = "the DataSource's options",
): SqlDatabase {
  refuseNonObject('options', options, 'must be the options of a DataSource');
  const { type, database, schema } = options as { type: string; database?: unknown; schema?: string };
  return {
    type,
    schema,
    configuredBy,
    place: placeOf(options),
    isVolatile: type === 'sqljs' || (isFileDatabase(type) && isInMemory(database)),
    warnings: () => [...sqliteDriverWarning(sqliteVersionsOf(options)), ...dropWarning(options)],
    driver: (opTimeoutMs, sockets) => new DataSourceDriver(options, opTimeoutMs, sockets),
  };
}

function dropWarning({ dropSchema }: DataSourceOptions): string[] {
  if (dropSchema !== true) return [];
  const warning =
    `dropSchema: true drops Raindrop's table at every start, and with it the record of issued IDs: IDs repeat while ` +
    `another process runs, or after a quick restart. Set dbConfig to another database`;
  return [warning];
}

/** A DataSource of our own, with one connection. */
class DataSourceDriver implements Driver {
  readonly file: string | undefined;
  private readonly dataSource: DataSource;

  constructor(options: DataSourceOptions, opTimeoutMs: number, sockets: ConnectionSockets) {
    if (!isSupportedDatabase(options.type)) throw new UnsupportedDatabaseError(options.type);
    const versions = sqliteVersionsOf(options);
    if (versions !== undefined) refuseUnfit(versions);
    const own = ownDataSourceOptions(options, { opTimeoutMs });
    const { type, extra } = own as { type: string; extra?: { stream?: unknown } };
    const isLocal = isFileDatabase(type);
    this.file = isLocal ? String(options.database) : undefined;
    const stream = isLocal ? undefined : sockets.factory(type, extra?.stream);
    try {
      this.dataSource = new DataSource(isLocal ? own : { ...own, extra: { ...extra, stream } });
    } catch (error) {
      throw isMissingDriver(error) ? new DriverNotInstalledError(type, error) : error;
    }
    Object.assign(this.dataSource.driver, driverOf(type).notAsked);
  }

  async connect(): Promise<DriverConnection> {
    if (!this.dataSource.isInitialized) await this.dataSource.initialize();
    const runner = this.dataSource.createQueryRunner('master');
    const opened = (await runner.connect()) as object;
    return driverOf(this.dataSource.options.type).connectionOf(opened, runner);
  }

  async end(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}

/** By its text: the application may have another copy of TypeORM, and a minifier shortens the names of classes. */
function isMissingDriver(error: unknown): boolean {
  return error instanceof Error && error.message.includes('package has not been found installed');
}

type Options = Readonly<Record<string, unknown>>;

/** Options of entities, schema, logging and pools: they belong to the application, not to the connection. */
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
  // A log of the statements would show the tokens in them.
  verbose: undefined,
  debug: false,
  trace: false,
  poolSize: 1,
};

/**
 * The options of a DataSource of our own: the same database as the application's, over one connection that the
 * application does not use. On a shared pool without a free connection most renewals failed.
 *
 * With `replication` it connects to the master. better-sqlite3 keeps its journal mode, and does not wait for locks
 * (`timeout: 0`).
 */
export function ownDataSourceOptions(
  options: DataSourceOptions,
  { opTimeoutMs }: { readonly opTimeoutMs: number },
): DataSourceOptions {
  const { type } = options;
  const given = { ...options, ...credentialsOf(options) } as Options;
  const extra = (given['extra'] ?? {}) as Options;
  return { ...given, ...NOT_OURS, ...driverOf(type).options(extra, opTimeoutMs) } as unknown as DataSourceOptions;
}

/** What differs between TypeORM's drivers. */
interface TypeormDriver {
  /** In place of the application's options of a connection. */
  options(extra: Options, opTimeoutMs: number): Options;
  /** Answers to queries that TypeORM sends at every new connection for entities and schemas, which there are none of. */
  readonly notAsked?: object;
  /** Whether each server of a replication has its own `ssl`. TypeORM reads that of MySQL at the top level only. */
  readonly hasSslPerServer: boolean;
  connectionOf(opened: object, runner: QueryRunner): DriverConnection;
}

const DRIVERS: Readonly<Record<Family, TypeormDriver>> = {
  mysql: {
    options: (extra, opTimeoutMs) => ({
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
        // These settings of the driver change the shape of rows.
        rowsAsArray: false,
        nestTables: false,
        namedPlaceholders: false,
        typeCast: true,
      },
    }),
    hasSslPerServer: false,
    // TypeORM's own way hangs under the fake timers of a test.
    connectionOf: (opened) => mysqlConnectionOf(opened as MysqlConnection),
  },
  postgres: {
    options: (extra, opTimeoutMs) => ({
      connectTimeoutMS: opTimeoutMs,
      // The first runs statements of the application, the second changes a setting of the whole driver.
      installExtensions: false,
      parseInt8: undefined,
      // pg-native, where installed, would open a socket that cannot be closed from here.
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
    }),
    notAsked: { version: '12.0', database: 'not asked', searchSchema: 'not asked' },
    hasSslPerServer: true,
    connectionOf: (opened, runner) => {
      const client = opened as PostgresClient;
      // A default of the whole driver that only a client itself overrides, see OWN_PARSERS.
      Object.assign(client, { binary: false });
      return {
        session: client.processID,
        stream: client.connection?.stream,
        onError: (listener) => client.on?.('error', listener),
        query: (sql, values) => ask(runner, sql, values),
      };
    },
  },
  sqlite: {
    options: () => ({ poolSize: undefined, timeout: 0, enableWAL: false, statementCacheSize: 100 }),
    hasSslPerServer: false,
    connectionOf: (_opened, runner) => ({ stream: undefined, query: (sql, values) => ask(runner, sql, values) }),
  },
};

function driverOf(type: string): TypeormDriver {
  return DRIVERS[dialectOf(type).family];
}

/** The used part of pg's client. */
interface PostgresClient {
  readonly processID?: number;
  readonly connection?: { readonly stream?: DriverConnection['stream'] };
  on?(event: 'error', listener: () => void): unknown;
}

async function ask(
  runner: QueryRunner,
  sql: string,
  values: readonly unknown[],
): ReturnType<DriverConnection['query']> {
  const { records, affected } = await runner.query(sql, [...values], true);
  return { records: records as Record<string, unknown>[], affected, insertId: undefined };
}

/** With replication, credentials that the master leaves out are not taken from the top level, as in TypeORM. */
function credentialsOf(options: DataSourceOptions): Options {
  const { replication, type, ssl } = options as unknown as Options;
  if (typeof replication !== 'object' || replication === null) return {};
  const { master } = replication as { master: Options };
  const names = ['url', 'host', 'port', 'username', 'password', 'database', 'socketPath', 'applicationName'];
  const credentials = Object.fromEntries(names.map((name) => [name, master[name]]));
  return { ...credentials, ssl: driverOf(type as string).hasSslPerServer ? master['ssl'] : ssl };
}

/**
 * The versions in use by a DataSource with these options, found without loading the driver; undefined when it uses
 * another database, brings a driver of its own, or nothing is found, as in a bundle.
 */
export function sqliteVersionsOf(options: DataSourceOptions): SqliteVersions | undefined {
  const { type, driver } = options as { type: string; driver?: unknown };
  if (!isFileDatabase(type) || driver !== undefined) return undefined;
  try {
    // As TypeORM resolves it.
    return sqliteVersions(require.resolve('typeorm'));
  } catch {
    return undefined;
  }
}
