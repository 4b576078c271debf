import type { QueryRunner } from 'typeorm';
import { BUSINESS_NUMBER_TABLE, KEY_COLUMNS, quoteTable, type Table } from '@raindrop/node/internal';
import { hold, type HeldKeys } from './held-keys.js';
import type { NumberKey } from './number-key.js';

/** What of mysql2's answer to a write matters here. */
export interface MysqlAnswer {
  readonly affectedRows: number | string;
  /** The argument of LAST_INSERT_ID(...): a string where a number would be rounded. */
  readonly insertId: number | string;
  readonly serverStatus?: number;
}

/** A row of the table of business numbers, inside the transaction of a query runner. */
export abstract class KeyedRow {
  protected readonly runner: QueryRunner;
  protected readonly table: string;

  /** @throws BusinessNumberConflictError when it would wait for a transaction that waits for this one */
  constructor(
    held: HeldKeys,
    protected readonly place: Table,
    protected readonly key: NumberKey,
  ) {
    hold(held, place, key);
    this.runner = held.runner;
    this.table = quoteTable(place.dialect, place.name);
  }

  protected get isMysql(): boolean {
    return this.place.dialect.family === 'mysql';
  }

  /** INSERT of this row, up to what becomes of one that is there; its placeholders are {@link keyValues}. */
  protected insert(value: bigint | string, start: bigint): string {
    const { dialect } = this.place;
    const key = KEY_COLUMNS.map((_, index) => this.placeholder(index));
    const values = [...key, value, start, dialect.nowMs, dialect.nowMs];
    const columns = BUSINESS_NUMBER_TABLE.columns.map(({ name }) => this.quote(name));
    const alias = this.isMysql ? '' : ' AS n';
    return `INSERT INTO ${this.table}${alias} (${columns.join(', ')}) VALUES (${values.join(', ')})`;
  }

  /** What follows where the row is there already: for PostgreSQL and SQLite. */
  protected get onConflict(): string {
    return `ON CONFLICT (${KEY_COLUMNS.map((column) => this.quote(column)).join(', ')}) DO UPDATE SET`;
  }

  protected keyCondition(columns: readonly (keyof NumberKey)[]): { values: (string | Buffer)[]; same: string } {
    const same = columns.map((column, index) => `${this.quote(column)} = ${this.placeholder(index)}`).join(' AND ');
    return { values: this.keyValues(columns), same };
  }

  protected keyValues(columns: readonly (keyof NumberKey)[]): (string | Buffer)[] {
    return columns.map((column) => (this.isMysql ? Buffer.from(this.key[column], 'utf8') : this.key[column]));
  }

  protected quote(column: string): string {
    return this.place.dialect.quote(column);
  }

  private placeholder(index: number): string {
    return this.isMysql ? MYSQL_TEXT : this.place.dialect.placeholder(index + 1);
  }
}

/** Bytes, so that a connection's character set cannot make two keys one. */
const MYSQL_TEXT = 'CONVERT(? USING utf8mb4)';
