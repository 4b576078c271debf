import { randomBytes } from 'node:crypto';
import { PermanentError, boundsOfCode, boundsOfShard, checkApp, MAX_APP, SHARDS } from '@raindrop/core/internal';
import {
  type App,
  type AppSegmentStore,
  ConfigurationError,
  type SegmentSource,
  type SegmentStore,
  UnknownAppError,
  UnknownCodeError,
  UnknownShardError,
} from '@raindrop/core';
import { execute, quoteTable, type RunStatement, statement } from '../database/dialect.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { retried } from '../database/own-database.js';
import { SegmentDatabase, type SegmentDatabaseOptions } from './segment-database.js';
import type { TableKind } from '../tables/table-kind.js';
import { APP_SEGMENT_TABLE, DEFAULT_STEP, SEGMENT_TABLE } from './segment-tables.js';
import { TableSegmentSource } from './table-segment-source.js';

export interface SqlSegmentStoreOptions extends SegmentDatabaseOptions {
  /** Whether the row of an unknown code is inserted. */
  readonly autoCreateCode: boolean;
  /** The step of rows that are inserted, 1 to 2^31 - 1. */
  readonly defaultStep: number;
}

/** The columns whose values an inserted row of a code is given. */
const ROW_COLUMNS = ['code', 'step', 'description', 'version'];

/** The code of the row that tells one table from another. */
const IDENTITY_CODE = 'raindrop.identity';

/** The code cannot be a row's key. */
export class UnstorableCodeError extends PermanentError {
  static override readonly name = 'UnstorableCodeError';
  readonly errorCode = 'UNSTORABLE_CODE';

  constructor(
    readonly idCode: string,
    /** The database's reason; undefined if it was not asked. */
    readonly reason?: string,
  ) {
    const code = JSON.stringify(idCode.slice(0, 130));
    super(
      reason === undefined
        ? `A code must be 1 to 128 characters without NUL or half a surrogate pair, not ${code}.`
        : `The table cannot hold the code ${code}: ${reason}. Use characters of the database's encoding, or change ` +
            `the database (PostgreSQL) or the column (MySQL, MariaDB: utf8mb4) to Unicode.`,
    );
  }
}

/** Segments in one table of MySQL, MariaDB, PostgreSQL or SQLite. */
abstract class SqlStore<Key extends readonly unknown[]> implements SegmentStore<Key> {
  protected readonly database: SegmentDatabase;

  protected constructor(kind: TableKind, database: SqlDatabase, options: SegmentDatabaseOptions) {
    this.database = new SegmentDatabase(database, kind, options);
  }

  /**
   * @throws TableMissingError when the table is missing and may not be created
   * @throws NotOurTableError when the table of that name has other columns
   */
  prepare(): Promise<void> {
    return this.database.prepare();
  }

  abstract source(...key: Key): SegmentSource;

  durabilityWarnings(): Promise<readonly string[]> {
    return this.database.durabilityWarnings();
  }

  close(): Promise<void> {
    return this.database.close();
  }
}

/** Segments of codes. */
export class SqlSegmentStore extends SqlStore<[code: string]> {
  /**
   * @param database where the table is; the store opens one connection of its own
   * @throws UnsupportedDatabaseError, InvalidTableNameError
   */
  constructor(
    database: SqlDatabase,
    private readonly options: SqlSegmentStoreOptions,
  ) {
    super(SEGMENT_TABLE, database, options);
  }

  /** @throws UnstorableCodeError */
  source(code: string): SegmentSource {
    if (code === '' || [...code].length > 128 || /[\0\p{Surrogate}]/u.test(code)) throw new UnstorableCodeError(code);
    const { options, database } = this;
    return new TableSegmentSource(database, {
      key: { code },
      name: `code ${JSON.stringify(code)}`,
      hasVersion: true,
      bounds: boundsOfCode(code),
      unstorable: (reason) => new UnstorableCodeError(code, reason),
      create: async () => {
        if (!options.autoCreateCode) throw new UnknownCodeError(code);
        await database.addRows(ROW_COLUMNS, [[code, options.defaultStep, '', 0]]);
      },
    });
  }

  /**
   * The table's own random text: the first call of any process draws it and keeps it as the description of the row
   * {@link IDENTITY_CODE}. No other table has the same, except a copy of this one.
   */
  identity(): Promise<string> {
    const { table } = this.database;
    const { dialect, name } = table;
    return this.database.call('reading the identity of the table', async (run) => {
      const drawn = randomBytes(16).toString('base64url');
      await this.database.addRows(ROW_COLUMNS, [[IDENTITY_CODE, 1, drawn, 0]]);
      const select = statement(dialect, (value) => {
        const [code, description] = [dialect.quote('code'), dialect.quote('description')];
        return `SELECT ${description} AS identity_text FROM ${quoteTable(dialect, name)} WHERE ${code} = ${value(IDENTITY_CODE)}`;
      });
      const { records } = await execute(run, select);
      return String(records[0]?.['identity_text']);
    });
  }
}

/** The most characters that our own table takes. An existing table may take fewer, and refuses longer texts. */
const LONGEST = { name: 128, description: 255 } as const;

/** Indexes of apps and their shards. */
export class SqlAppSegmentStore extends SqlStore<[app: number, shard: number]> implements AppSegmentStore {
  /**
   * @param database where the table is; the store opens one connection of its own
   * @param options an existing `id_alloc` of the original service will do as `tableName`
   * @throws UnsupportedDatabaseError, InvalidTableNameError
   */
  constructor(database: SqlDatabase, options: SegmentDatabaseOptions) {
    super(APP_SEGMENT_TABLE, database, options);
  }

  /**
   * @param appId 0 to 255
   * @param name up to 128 characters
   * @param description up to 255 characters
   * @throws InvalidAppError; ConfigurationError for a text that is too long
   */
  async registerApp(appId: number, name: string, description: string): Promise<void> {
    checkApp(appId);
    checkLengths({ name, description });
    await this.database.call(`registering app ${appId}`, (run) =>
      retried(async () => {
        await this.addRows({ id: appId, name, description });
        await this.describeRows(run, { id: appId, name, description });
      }),
    );
  }

  apps(): Promise<App[]> {
    const { table } = this.database;
    const { dialect } = table;
    const [id, name, description] = ['app_id', 'app_name', 'description'].map((column) => dialect.quote(column));
    const sql =
      `SELECT ${id} AS id, MIN(${name}) AS name, MIN(${description}) AS text ` +
      `FROM ${quoteTable(dialect, table.name)} WHERE ${id} BETWEEN 0 AND ${MAX_APP} GROUP BY ${id} ORDER BY ${id}`;
    return this.database.call('listing the apps', async (run) =>
      (await run(sql)).records.map((record) => ({
        id: Number(record['id']),
        name: textOf(record['name']),
        description: textOf(record['text']),
      })),
    );
  }

  /** @throws InvalidAppError, InvalidShardedIdPartError when there can be no such row */
  source(app: number, shard: number): SegmentSource {
    return new TableSegmentSource(this.database, {
      key: { app_id: app, shard_id: shard },
      name: `app ${app}, shard ${shard}`,
      hasVersion: false,
      bounds: boundsOfShard(app, shard),
      create: (run) => this.refuse(run, app, shard),
    });
  }

  private async addRows({ id, name, description }: App): Promise<void> {
    const columns = ['app_id', 'shard_id', 'app_name', 'step', 'description'];
    const rows = Array.from({ length: SHARDS }, (_, shard) => [id, shard, name, DEFAULT_STEP, description]);
    await this.database.addRows(columns, rows);
  }

  private async describeRows(run: RunStatement, { id, name, description }: App): Promise<void> {
    const { dialect, name: table } = this.database.table;
    const update = statement(dialect, (value) => {
      const set = `${dialect.quote('app_name')} = ${value(name)}, ${dialect.quote('description')} = ${value(description)}`;
      return `UPDATE ${quoteTable(dialect, table)} SET ${set} WHERE ${dialect.quote('app_id')} = ${value(id)}`;
    });
    await execute(run, update);
  }

  private async refuse(run: RunStatement, app: number, shard: number): Promise<never> {
    const { dialect, name } = this.database.table;
    const select = statement(
      dialect,
      (value) => `SELECT 1 FROM ${quoteTable(dialect, name)} WHERE ${dialect.quote('app_id')} = ${value(app)} LIMIT 1`,
    );
    const { records } = await execute(run, select);
    throw records.length === 0 ? new UnknownAppError(app) : new UnknownShardError(app, shard);
  }
}

/** An existing table may have NULL there. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** MySQL would cut a longer text without an error. @throws ConfigurationError */
function checkLengths(texts: Readonly<Record<keyof typeof LONGEST, string>>): void {
  const problems = (['name', 'description'] as const)
    .filter((option) => [...texts[option]].length > LONGEST[option])
    .map((option) => ({
      option,
      given: `${[...texts[option]].length} characters`,
      message: `must be a string of at most ${LONGEST[option]} characters`,
    }));
  if (problems.length > 0) throw new ConfigurationError(problems);
}
