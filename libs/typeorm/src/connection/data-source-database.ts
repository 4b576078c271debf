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
 * Queries that TypeORM sends to PostgreSQL at every new connection, one round trip each. It needs the answers for entities
 * and schemas; this DataSource has neither.
 */
const NOT_ASKED = { version: '12.0', database: 'not asked', searchSchema: 'not asked' };

/** The drivers' connections, as far as they are needed here. */
interface OpenedConnection {
  on?(event: 'error', listener: () => void): unknown;
  /** mysql2's, and pg's. */
  readonly threadId?: number;
  readonly processID?: number;
  /** mysql2's; pg has it one level down. */
  readonly stream?: DriverConnection['stream'];
  readonly connection?: { readonly stream?: DriverConnection['stream'] };
}

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
    ...{ type, schema, configuredBy, place: placeOf(options) },
    isVolatile: type === 'sqljs' || (type === 'better-sqlite3' && isInMemory(database)),
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
    const isLocal = type === 'better-sqlite3';
    this.file = isLocal ? String(options.database) : undefined;
    const stream = isLocal ? undefined : sockets.factory(type, extra?.stream);
    try {
      this.dataSource = new DataSource(isLocal ? own : { ...own, extra: { ...extra, stream } });
    } catch (error) {
      throw isMissingDriver(error) ? new DriverNotInstalledError(type, error) : error;
    }
    if (type === 'postgres') Object.assign(this.dataSource.driver, NOT_ASKED);
  }

  async connect(): Promise<DriverConnection> {
    if (!this.dataSource.isInitialized) await this.dataSource.initialize();
    const runner = this.dataSource.createQueryRunner('master');
    const opened = (await runner.connect()) as OpenedConnection;
    // TypeORM's own way hangs under the fake timers of a test.
    if (dialectOf(this.dataSource.options.type).family === 'mysql')
      return mysqlConnectionOf(opened as unknown as MysqlConnection);
    // A default of the whole driver that only a client itself overrides, see OWN_PARSERS.
    if (this.dataSource.options.type === 'postgres') Object.assign(opened, { binary: false });
    return {
      session: opened.threadId ?? opened.processID,
      stream: opened.connection?.stream ?? opened.stream,
      onError: (listener) => opened.on?.('error', listener),
      query: (sql, values) => this.query(runner, sql, values),
    };
  }

  async end(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  private async query(
    runner: QueryRunner,
    sql: string,
    values: readonly unknown[],
  ): ReturnType<DriverConnection['query']> {
    const result = await runner.query(sql, [...values], true);
    const answer = result.raw as { readonly insertId?: unknown } | undefined;
    const records = result.records as Record<string, unknown>[];
    return { records, affected: result.affected, insertId: answer?.insertId };
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
  return { ...given, ...NOT_OURS, ...connectionOf(type, extra, opTimeoutMs) } as unknown as DataSourceOptions;
}

function connectionOf(type: string, extra: Options, opTimeoutMs: number): Options {
  if (type === 'better-sqlite3') return { poolSize: undefined, timeout: 0, enableWAL: false, statementCacheSize: 100 };
  if (type === 'postgres') {
    return {
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
      // These settings of the driver change the shape of rows.
      rowsAsArray: false,
      nestTables: false,
      namedPlaceholders: false,
      typeCast: true,
    },
  };
}

/** With replication, credentials that the master leaves out are not taken from the top level, as in TypeORM. */
function credentialsOf(options: DataSourceOptions): Options {
  const { replication, type, ssl } = options as unknown as Options;
  if (typeof replication !== 'object' || replication === null) return {};
  const { master } = replication as { master: Options };
  const names = ['url', 'host', 'port', 'username', 'password', 'database', 'socketPath', 'applicationName'];
  const credentials = Object.fromEntries(names.map((name) => [name, master[name]]));
  // For MySQL, TypeORM reads `ssl` at the top level only.
  return { ...credentials, ssl: type === 'postgres' ? master['ssl'] : ssl };
}

/**
 * The versions in use by a DataSource with these options, found without loading the driver; undefined when it uses
 * another database, brings a driver of its own, or nothing is found, as in a bundle.
 */
export function sqliteVersionsOf(options: DataSourceOptions): SqliteVersions | undefined {
  if (options.type !== 'better-sqlite3' || options.driver !== undefined) return undefined;
  try {
    // As TypeORM resolves it.
    return sqliteVersions(require.resolve('typeorm'));
  } catch {
    return undefined;
  }
}
