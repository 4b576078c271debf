import {
  checkApp,
  MAX_APP,
  MAX_ID,
  MAX_INDEX,
  SegmentExhaustedError,
  SHARDS,
  UnknownAppError,
  UnknownShardError,
} from '@raindrop/core/internal';
import {
  composeShardedId,
  ConfigurationError,
  type App,
  type AppSegmentStore,
  type SegmentSource,
} from '@raindrop/core';
import type { RunStatement } from '../database/run-sql.js';
import { retried } from '../database/retried.js';
import { quoteTable } from '../database/dialect.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { execute, statement } from '../database/statement.js';
import { SegmentDatabase, type SegmentDatabaseOptions } from './segment-database.js';
import { APP_SEGMENT_TABLE, DEFAULT_STEP } from './segment-tables.js';
import { TableSegmentSource } from './table-segment-source.js';

/** The most characters that our own table takes; an existing one may take less, and refuses the rest. */
const LONGEST = { name: 128, description: 255 } as const;

/** Indexes of apps and their shards in MySQL, MariaDB, PostgreSQL or SQLite. */
export class SqlAppSegmentStore implements AppSegmentStore {
  private readonly database: SegmentDatabase;

  /**
   * @param database where the table is; the store opens one connection of its own
   * @param options an existing `id_alloc` of the original service will do as `tableName`
   * @throws UnsupportedDatabaseError, InvalidTableNameError
   */
  constructor(database: SqlDatabase, options: SegmentDatabaseOptions) {
    this.database = new SegmentDatabase(database, APP_SEGMENT_TABLE, options);
  }

  /**
   * @throws TableMissingError when it is missing and may not be created
   * @throws NotOurTableError when the table of that name has other columns
   */
  prepare(): Promise<void> {
    return this.database.prepare();
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
    const lowest = composeShardedId({ index: 0n, shard, app });
    const distance = composeShardedId({ index: 1n, shard, app }) - lowest;
    return new TableSegmentSource(this.database, {
      key: { app_id: app, shard_id: shard },
      name: `app ${app}, shard ${shard}`,
      hasVersion: false,
      ceiling: (maxLimitId) => (maxLimitId === 0n ? MAX_INDEX : (maxLimitId - lowest) / distance),
      exhausted: (maxLimitId) =>
        new SegmentExhaustedError(`app ${app}, shard ${shard}`, maxLimitId === 0n ? MAX_ID : maxLimitId),
      create: (run) => this.refuse(run, app, shard),
    });
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return this.database.durabilityWarnings();
  }

  close(): Promise<void> {
    return this.database.close();
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

/** @throws ConfigurationError: MySQL would cut what is too long without a word */
function checkLengths(texts: Readonly<Record<keyof typeof LONGEST, string>>): void {
  const problems = (['name', 'description'] as const)
    .filter((option) => [...texts[option]].length > LONGEST[option])
    .map((option) => ({
      option,
      given: `${[...texts[option]].length} characters`,
      message: `must be a text of at most ${LONGEST[option]} characters`,
    }));
  if (problems.length > 0) throw new ConfigurationError(problems);
}
