import { KEY_COLUMNS, NAME_COLUMNS, type Table } from '@raindrop/node/internal';
import type { HeldKeys } from './held-keys.js';
import { KeyedRow, type MysqlAnswer } from './keyed-row.js';
import type { NumberKey } from './number-key.js';

/** No period looks like it. */
const RESET_PERIOD = 'resets';

/**
 * The one row of a series and a tenant that says how long its periods are, and so when it starts anew: 0 characters for
 * never, 4, 7 or 10. Whoever begins a period locks it until the end of the transaction: of two who would begin with
 * different ones the second learns of the first.
 */
export class ResetRow extends KeyedRow {
  private readonly length: number;

  constructor(held: HeldKeys, place: Table, { series, per, period }: NumberKey) {
    super(held, place, { series, per, period: RESET_PERIOD });
    this.length = period.length;
  }

  /** Locks the row. @returns a period of another length that the series has; undefined when it may begin the new one */
  async claim(): Promise<string | undefined> {
    const { length, isNew } = await (this.isMysql ? this.lockMysql() : this.lockReturning());
    if (!isNew && length === this.length) return undefined;
    // The row may be younger than the numbers, or have outlived them.
    const other = await this.otherPeriod();
    const agreed = other?.length ?? this.length;
    if (agreed !== length) await this.agree(agreed);
    return other;
  }

  /** PostgreSQL and SQLite. */
  private async lockReturning(): Promise<Lock> {
    const [value, count] = [this.quote('value'), this.quote('start_value')];
    const sql =
      `${this.insert(String(this.length), 1n)} ${this.onConflict} ${count} = n.${count} + 1 ` +
      `RETURNING CAST(${value} AS text) AS length, CASE WHEN ${count} = 1 THEN 1 ELSE 0 END AS is_new`;
    const { records } = await this.runner.query(sql, this.keyValues(KEY_COLUMNS), true);
    const record = (records as { length: string; is_new: number }[])[0]!;
    return { length: Number(record.length), isNew: Number(record.is_new) === 1 };
  }

  /** MySQL and MariaDB. */
  private async lockMysql(): Promise<Lock> {
    const [value, count] = [this.quote('value'), this.quote('start_value')];
    const sql =
      `${this.insert(`LAST_INSERT_ID(${this.length})`, 1n)} ` +
      `ON DUPLICATE KEY UPDATE ${count} = ${count} + 1, ${value} = LAST_INSERT_ID(${value})`;
    const { affectedRows, insertId } = (await this.runner.query(sql, this.keyValues(KEY_COLUMNS))) as MysqlAnswer;
    return { length: Number(insertId), isNew: Number(affectedRows) === 1 };
  }

  private async otherPeriod(): Promise<string | undefined> {
    const { values, same } = this.keyCondition(NAME_COLUMNS);
    const period = this.quote('period');
    const sql =
      `SELECT ${period} AS period FROM ${this.table} ` +
      `WHERE ${same} AND ${period} <> '${RESET_PERIOD}' AND LENGTH(${period}) <> ${this.length} LIMIT 1` +
      // Of what is committed now, not when the transaction began; PostgreSQL has failed by now where that is not the same.
      (this.isMysql ? ' LOCK IN SHARE MODE' : '');
    const { records } = await this.runner.query(sql, values, true);
    return (records as { period: string }[])[0]?.period;
  }

  private async agree(length: number): Promise<void> {
    const { values, same } = this.keyCondition(KEY_COLUMNS);
    await this.runner.query(`UPDATE ${this.table} SET ${this.quote('value')} = ${length} WHERE ${same}`, values);
  }
}

interface Lock {
  readonly length: number;
  readonly isNew: boolean;
}
