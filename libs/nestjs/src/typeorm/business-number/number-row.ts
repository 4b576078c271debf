import type { QueryRunner } from 'typeorm';
import { quoteTable } from '../database/dialect.js';
import { TransactionRequiredError } from './business-number-errors.js';
import { KEY_COLUMNS, NUMBER_COLUMNS, type NumberTable } from './number-table.js';

/** What is counted by itself. */
export interface NumberKey {
  readonly series: string;
  /** '' for none. */
  readonly per: string;
  /** '', `2026`, `2026-03` or `2026-03-14`. */
  readonly period: string;
}

export interface Increment {
  readonly value: bigint;
  /** Whether the row is new. */
  readonly isFirst: boolean;
}

/** What of mysql2's answer to a write matters here. */
interface MysqlAnswer {
  readonly affectedRows: number | string;
  readonly insertId: number | string;
  readonly serverStatus?: number;
}

/** SERVER_STATUS_IN_TRANS of MySQL's protocol. */
const IN_TRANSACTION = 1;

/** The row of one key, inside the transaction of a query runner. */
export class NumberRow {
  private readonly table: string;

  constructor(
    private readonly runner: QueryRunner,
    private readonly place: NumberTable,
    private readonly key: NumberKey,
  ) {
    this.table = quoteTable(place.dialect, place.table);
  }

  /**
   * Locks the row, which begins with `start`, and counts it up; undefined when `last` is reached, and nothing changes.
   * @throws TransactionRequiredError when the database has ended the transaction that TypeORM believes in
   */
  increment(start: bigint, last: bigint): Promise<Increment | undefined> {
    return this.isMysql ? this.incrementMysql(start, last) : this.incrementReturning(start, last);
  }

  /** A period of the same series that is as long as none of this `resetBy`. */
  async otherPeriod(): Promise<string | undefined> {
    const { values, same } = this.keyCondition(['series', 'per']);
    const period = this.quote('period');
    const sql = `SELECT ${period} AS period FROM ${this.table} WHERE ${same} AND LENGTH(${period}) <> ${this.key.period.length} LIMIT 1`;
    const { records } = await this.runner.query(sql, values, true);
    return (records as { period: string }[])[0]?.period;
  }

  /** Undoes an increment that nobody was told of, unless somebody has counted on since. */
  async takeBack({ value, isFirst }: Increment): Promise<void> {
    const { values, same } = this.keyCondition(KEY_COLUMNS);
    const counter = this.quote('value');
    const write = isFirst ? `DELETE FROM ${this.table}` : `UPDATE ${this.table} SET ${counter} = ${counter} - 1`;
    // A number of ours, digits only.
    await this.runner.query(`${write} WHERE ${same} AND ${counter} = ${value}`, values);
  }

  /** PostgreSQL and SQLite. */
  private async incrementReturning(start: bigint, last: bigint): Promise<Increment | undefined> {
    const { dialect } = this.place;
    if (this.place.type === 'better-sqlite3') await this.refuseEndedSqlite();
    const [value, updated] = [this.quote('value'), this.quote('updated_ms')];
    const sql =
      `INSERT INTO ${this.table} AS n (${NUMBER_COLUMNS.map(({ name }) => this.quote(name)).join(', ')}) ` +
      `VALUES (${[1, 2, 3].map((position) => dialect.placeholder(position)).join(', ')}, ${start}, ${start}, ${dialect.nowMs}, ${dialect.nowMs}) ` +
      `ON CONFLICT (${KEY_COLUMNS.map((column) => this.quote(column)).join(', ')}) ` +
      `DO UPDATE SET ${value} = n.${value} + 1, ${updated} = ${dialect.nowMs} WHERE n.${value} < ${last} ` +
      // As text: SQLite's driver rounds, and pg can be told to.
      `RETURNING CAST(${value} AS text) AS counted, CASE WHEN ${value} = ${this.quote('start_value')} THEN 1 ELSE 0 END AS is_first`;
    const { records } = await this.runner.query(sql, this.keyValues(KEY_COLUMNS), true);
    const record = (records as { counted: string; is_first: number }[])[0];
    return record && { value: BigInt(record.counted), isFirst: Number(record.is_first) === 1 };
  }

  /** MySQL and MariaDB. LAST_INSERT_ID(...) carries the value into the answer: there is no RETURNING for updates. */
  private async incrementMysql(start: bigint, last: bigint): Promise<Increment | undefined> {
    const { nowMs } = this.place.dialect;
    const [value, updated] = [this.quote('value'), this.quote('updated_ms')];
    const sql =
      `INSERT INTO ${this.table} (${NUMBER_COLUMNS.map(({ name }) => this.quote(name)).join(', ')}) ` +
      `VALUES (${KEY_COLUMNS.map(() => MYSQL_TEXT).join(', ')}, LAST_INSERT_ID(${start}), ${start}, ${nowMs}, ${nowMs}) ` +
      // Evaluated from left to right: the time looks at the value as it was.
      `ON DUPLICATE KEY UPDATE ${updated} = IF(${value} < ${last}, ${nowMs}, ${updated}), ` +
      `${value} = IF(${value} < ${last}, LAST_INSERT_ID(${value} + 1), ${value} + LAST_INSERT_ID(0))`;
    const answer = (await this.runner.query(sql, this.keyValues(KEY_COLUMNS))) as MysqlAnswer;
    const { affectedRows, insertId, serverStatus = IN_TRANSACTION } = answer;
    // A string where a number would be rounded.
    const counted = BigInt(insertId);
    if (counted === 0n) return undefined;
    const increment = { value: counted, isFirst: Number(affectedRows) === 1 };
    if ((serverStatus & IN_TRANSACTION) === 0) {
      await this.takeBack(increment);
      throw new TransactionRequiredError('ended');
    }
    return increment;
  }

  /** SQLite rolls back by itself when the disk is full or a file cannot be read. */
  private async refuseEndedSqlite(): Promise<void> {
    const connection = (await this.runner.connect()) as { readonly inTransaction?: boolean };
    if (connection.inTransaction === false) throw new TransactionRequiredError('ended');
  }

  private keyCondition(columns: readonly (keyof NumberKey)[]): { values: (string | Buffer)[]; same: string } {
    const placeholder = (index: number): string =>
      this.isMysql ? MYSQL_TEXT : this.place.dialect.placeholder(index + 1);
    const same = columns.map((column, index) => `${this.quote(column)} = ${placeholder(index)}`).join(' AND ');
    return { values: this.keyValues(columns), same };
  }

  private keyValues(columns: readonly (keyof NumberKey)[]): (string | Buffer)[] {
    return columns.map((column) => (this.isMysql ? Buffer.from(this.key[column], 'utf8') : this.key[column]));
  }

  private get isMysql(): boolean {
    return this.place.type === 'mysql' || this.place.type === 'mariadb';
  }

  private quote(column: string): string {
    return this.place.dialect.quote(column);
  }
}

/** Bytes, so that a connection's character set cannot make two keys one. */
const MYSQL_TEXT = 'CONVERT(? USING utf8mb4)';
