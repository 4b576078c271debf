import { MAX_ID, SegmentExhaustedError, UnknownCodeError } from '@raindrop/core/internal';
import { RaindropError, type SegmentSource, type SegmentStore } from '@raindrop/core';
import { randomBytes } from 'node:crypto';
import { quoteTable } from '../database/dialect.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { execute, statement } from '../database/statement.js';
import { SegmentDatabase, type SegmentDatabaseOptions } from './segment-database.js';
import { SEGMENT_TABLE } from './segment-tables.js';
import { TableSegmentSource } from './table-segment-source.js';

export interface SqlSegmentStoreOptions extends SegmentDatabaseOptions {
  /** Whether the row of an unknown code is inserted. */
  readonly autoCreateCode: boolean;
  /** The step of rows that are inserted, 1 to 2^31 - 1. */
  readonly defaultStep: number;
}

/** What is said of a row that is inserted. */
const ROW_COLUMNS = ['code', 'step', 'description', 'version'];

/** The row that tells one table from another. */
const IDENTITY_CODE = 'raindrop.identity';

/** The code cannot be a row's key. */
export class UnstorableCodeError extends RaindropError {
  readonly errorCode = 'UNSTORABLE_CODE';

  constructor(
    readonly idCode: string,
    /** What the database says; undefined where it was not asked. */
    readonly reason?: string,
  ) {
    const code = JSON.stringify(idCode.slice(0, 130));
    super(
      reason === undefined
        ? `A code is 1 to 128 characters, without NUL and without half a surrogate pair; ${code} is not.`
        : `The table cannot hold the code ${code}: ${reason}. Use characters that the database's encoding has, or make the ` +
            `database (PostgreSQL) or the column (MySQL, MariaDB: utf8mb4) one of Unicode.`,
      { retryable: false },
    );
  }
}

/** Segments of codes in MySQL, MariaDB, PostgreSQL or SQLite. */
export class SqlSegmentStore implements SegmentStore {
  private readonly database: SegmentDatabase;

  /**
   * @param database where the table is; the store opens one connection of its own
   * @throws UnsupportedDatabaseError, InvalidTableNameError
   */
  constructor(
    database: SqlDatabase,
    private readonly options: SqlSegmentStoreOptions,
  ) {
    this.database = new SegmentDatabase(database, SEGMENT_TABLE, options);
  }

  /**
   * @throws TableMissingError when it is missing and may not be created
   * @throws NotOurTableError when the table of that name has other columns
   */
  prepare(): Promise<void> {
    return this.database.prepare();
  }

  /** @throws UnstorableCodeError */
  source(code: string): SegmentSource {
    if (code === '' || [...code].length > 128 || /[\0\p{Surrogate}]/u.test(code)) throw new UnstorableCodeError(code);
    const { options, database } = this;
    return new TableSegmentSource(database, {
      key: { code },
      name: `code ${JSON.stringify(code)}`,
      hasVersion: true,
      ceiling: (maxLimitId) => (maxLimitId === 0n ? MAX_ID : maxLimitId),
      unstorable: (reason) => new UnstorableCodeError(code, reason),
      exhausted: (maxLimitId) => new SegmentExhaustedError(code, maxLimitId === 0n ? MAX_ID : maxLimitId),
      create: async () => {
        if (!options.autoCreateCode) throw new UnknownCodeError(code);
        await database.addRows(ROW_COLUMNS, [[code, options.defaultStep, '', 0]]);
      },
    });
  }

  /**
   * A text that this table keeps for good and no other one has, unless it is a copy: drawn when it is first asked for,
   * and kept as the description of a row of its own.
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

  durabilityWarnings(): Promise<readonly string[]> {
    return this.database.durabilityWarnings();
  }

  close(): Promise<void> {
    return this.database.close();
  }
}
