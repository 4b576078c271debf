import {
  MAX_ID,
  RaindropError,
  SegmentExhaustedError,
  UnknownCodeError,
  type SegmentSource,
  type SegmentStore,
} from '@raindrop/core';
import { randomBytes } from 'node:crypto';
import { quoteTable } from '../database/dialect.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { parseTableName, type TableName } from '../database/table-name.js';
import { prepareSegmentTable } from './missing-segment-table.js';
import { SegmentDatabase, type SegmentDatabaseOptions } from './segment-database.js';
import { insertSegmentRows, statement } from './segment-statements.js';
import { CODE_SEGMENTS } from './segment-tables.js';
import { TableSegmentSource } from './table-segment-source.js';

export interface SqlSegmentStoreOptions extends SegmentDatabaseOptions {
  /** `table` or `schema.table`. */
  readonly tableName: string;
  /** Whether a missing table is created. */
  readonly autoCreateTable: boolean;
  /** Whether the row of an unknown code is inserted. */
  readonly autoCreateCode: boolean;
  /** The step of rows that are inserted, 1 to 2^31 - 1. */
  readonly defaultStep: number;
}

/** The row that tells one table from another. */
const IDENTITY_CODE = 'raindrop.identity';

/** The code cannot be a row's key. */
export class UnstorableCodeError extends RaindropError {
  readonly errorCode = 'UNSTORABLE_CODE';

  constructor(readonly idCode: string) {
    super(
      `A code is 1 to 128 characters, without NUL and without half a surrogate pair; ${JSON.stringify(idCode.slice(0, 130))} is not.`,
      { retryable: false },
    );
  }
}

/** Segments of codes in MySQL, MariaDB, PostgreSQL or SQLite. */
export class SqlSegmentStore implements SegmentStore {
  private readonly database: SegmentDatabase;
  private readonly table: TableName;

  /**
   * @param database where the table is; the store opens one connection of its own
   * @throws UnsupportedDatabaseError, InvalidTableNameError
   */
  constructor(
    database: SqlDatabase,
    private readonly options: SqlSegmentStoreOptions,
  ) {
    this.database = new SegmentDatabase(database, options);
    this.table = parseTableName(options.tableName, database.schema);
  }

  /**
   * @throws SegmentTableMissingError when it is missing and may not be created
   * @throws NotASegmentTableError when the table of that name is somebody else's
   */
  prepare(): Promise<void> {
    const place = { dialect: this.database.dialect, name: this.table, table: CODE_SEGMENTS };
    return this.database.call('preparing the table', (run) =>
      prepareSegmentTable(run, place, this.options.autoCreateTable),
    );
  }

  /** @throws UnstorableCodeError */
  source(code: string): SegmentSource {
    if (code === '' || [...code].length > 128 || /[\0\p{Surrogate}]/u.test(code)) throw new UnstorableCodeError(code);
    const { dialect } = this.database;
    const { table, options } = this;
    const unused = {
      columns: ['code', 'step', 'description', 'version'],
      key: ['code'],
      rows: [[code, options.defaultStep, '', 0]],
    };
    return new TableSegmentSource(this.database, {
      address: { dialect, table, key: { code } },
      name: `code ${JSON.stringify(code)}`,
      hasVersion: true,
      ceiling: (maxLimitId) => (maxLimitId === 0n ? MAX_ID : maxLimitId),
      exhausted: (maxLimitId) => new SegmentExhaustedError(code, maxLimitId === 0n ? MAX_ID : maxLimitId),
      create: async (run) => {
        if (!options.autoCreateCode) throw new UnknownCodeError(code);
        const { sql, values } = insertSegmentRows({ dialect, table }, unused);
        await run(sql, values);
      },
    });
  }

  /**
   * A text that this table keeps for good and no other one has, unless it is a copy: drawn when it is first asked for,
   * and kept as the description of a row of its own.
   */
  identity(): Promise<string> {
    const { dialect } = this.database;
    const { table } = this;
    return this.database.call('reading the identity of the table', async (run) => {
      const drawn = randomBytes(16).toString('base64url');
      const columns = ['code', 'step', 'description', 'version'];
      const row = { columns, key: ['code'], rows: [[IDENTITY_CODE, 1, drawn, 0]] };
      const insert = insertSegmentRows({ dialect, table }, row);
      await run(insert.sql, insert.values);
      const select = statement(dialect, (value) => {
        const [code, description] = [dialect.quote('code'), dialect.quote('description')];
        return `SELECT ${description} AS identity_text FROM ${quoteTable(dialect, table)} WHERE ${code} = ${value(IDENTITY_CODE)}`;
      });
      const { records } = await run(select.sql, select.values);
      return String(records[0]?.['identity_text']);
    });
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return this.database.durabilityWarnings();
  }

  close(): Promise<void> {
    return this.database.close();
  }
}
