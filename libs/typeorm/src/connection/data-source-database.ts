import type { ConnectionSockets, Driver, DriverConnection, SqlDatabase } from '@raindrop/node';
import { DriverNotInstalledError, UnsupportedDatabaseError } from '@raindrop/node';
import {
  dialectOf,
  isInMemory,
  isSupportedDatabase,
  type MysqlConnection,
  mysqlConnectionOf,
  placeOf,
  refuseUnfit,
  sqliteDriverWarning,
} from '@raindrop/node/internal';
import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm';
import { ownDataSourceOptions } from './own-data-source.js';
import { sqliteVersionsOf } from './sqlite-versions-of.js';

/**
 * What TypeORM would ask PostgreSQL for at every new connection, a round trip each. It wants them for entities and
 * schemas, which we have none of.
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
 */
export function dataSourceDatabase(
  options: DataSourceOptions,
  configuredBy: string = "the DataSource's options",
): SqlDatabase {
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
    `dropSchema: true drops our table at every start, and with it the memory of what was issued: IDs repeat while ` +
    `another process runs, or after a quick restart. Give dbConfig another database`;
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

/** By its name: the application may have another copy of TypeORM. */
function isMissingDriver(error: unknown): boolean {
  return error instanceof Error && error.constructor.name === 'DriverPackageNotInstalledError';
}
