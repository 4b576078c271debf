import { ConfigurationError } from '@raindrop/core';
import { BUSINESS_NUMBER_TABLE, KEY_COLUMNS, NAME_COLUMNS } from '@raindrop/node/internal';
import { TransactionRequiredError } from './business-number-errors.js';
import { KeyedRow, type MysqlAnswer } from './keyed-row.js';
import { isInPostgresTransaction } from './postgres-transaction.js';

export interface Increment {
  readonly value: bigint;
  /** Whether the row is new. */
  readonly isFirst: boolean;
}

/** SERVER_STATUS_IN_TRANS of MySQL's protocol. */
const IN_TRANSACTION = 1;

/** The row that counts the numbers of one key. */
export class NumberRow extends KeyedRow {
  /**
   * Locks the row, which begins with `start`, and counts it up; undefined when `last` is reached, and nothing changes.
   * @throws TransactionRequiredError when the database has ended the transaction that TypeORM believes in
   */
  async increment(start: bigint, last: bigint): Promise<Increment | undefined> {
    if (await this.hasEnded()) throw new TransactionRequiredError('ended');
    const increment = await (this.isMysql ? this.incrementMysql(start, last) : this.incrementReturning(start, last));
    if (increment === undefined || !(increment.isCommitted || (await this.hasEnded()))) return increment;
    await this.takeBack(increment);
    throw new TransactionRequiredError('ended');
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
  private async incrementReturning(start: bigint, last: bigint): Promise<Attempt | undefined> {
    const [value, updated] = [this.quote('value'), this.quote('updated_ms')];
    const sql =
      `${this.insert(start, start)} ${this.onConflict} ${value} = n.${value} + 1, ${updated} = ${this.place.dialect.nowMs} ` +
      `WHERE n.${value} < ${last} ` +
      // As text: SQLite's driver rounds, and pg can be told to.
      `RETURNING CAST(${value} AS text) AS counted, CASE WHEN ${value} = ${this.quote('start_value')} THEN 1 ELSE 0 END AS is_first`;
    const { records } = await this.runner.query(sql, this.keyValues(KEY_COLUMNS), true);
    const record = (records as { counted: string; is_first: number }[])[0];
    return record && { value: BigInt(record.counted), isFirst: Number(record.is_first) === 1, isCommitted: false };
  }

  /** MySQL and MariaDB. LAST_INSERT_ID(...) carries the value into the answer: there is no RETURNING for updates. */
  private async incrementMysql(start: bigint, last: bigint): Promise<Attempt | undefined> {
    const { nowMs } = this.place.dialect;
    const [value, updated] = [this.quote('value'), this.quote('updated_ms')];
    const counts = `${this.sameBytes} AND ${value} < ${last}`;
    const sql =
      `${this.insert(`LAST_INSERT_ID(${start})`, start)} ` +
      // Evaluated from left to right: the time looks at the value as it was.
      `ON DUPLICATE KEY UPDATE ${updated} = IF(${counts}, ${nowMs}, ${updated}), ` +
      `${value} = IF(${counts}, LAST_INSERT_ID(${value} + 1), ${value} + LAST_INSERT_ID(0))`;
    const name = this.keyValues(NAME_COLUMNS);
    const answer = (await this.runner.query(sql, [...this.keyValues(KEY_COLUMNS), ...name, ...name])) as MysqlAnswer;
    const { affectedRows, insertId, serverStatus = IN_TRANSACTION } = answer;
    const counted = BigInt(insertId);
    if (counted === 0n) return this.refuseAlike();
    const isCommitted = (serverStatus & IN_TRANSACTION) === 0;
    return { value: counted, isFirst: Number(affectedRows) === 1, isCommitted };
  }

  /** @throws ConfigurationError when the row is that of another name, which the table takes for this one */
  private async refuseAlike(): Promise<undefined> {
    const { values, same } = this.keyCondition(KEY_COLUMNS);
    const sql = `SELECT 1 AS found FROM ${this.table} WHERE ${same} AND ${this.sameBytes} LOCK IN SHARE MODE`;
    const { records } = await this.runner.query(sql, [...values, ...this.keyValues(NAME_COLUMNS)], true);
    if ((records as unknown[]).length > 0) return undefined;
    const { series, per } = this.key;
    const columns = BUSINESS_NUMBER_TABLE.columns.filter(({ kind }) => typeof kind === 'object' && 'key' in kind);
    const changes = columns.map(({ name, kind }) => {
      const type = `varchar(${(kind as { key: number }).key}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL`;
      return `MODIFY ${this.quote(name)} ${type}`;
    });
    const message =
      `takes another name for '${per === '' ? series : per}': its collation must compare byte by byte. ` +
      `Run ALTER TABLE ${this.table} ${changes.join(', ')}`;
    throw new ConfigurationError([{ option: 'tableName', given: `'${this.place.name.name}'`, message }]);
  }

  /** Whether the row is this one, and not of a name that differs by case or accents; its values are bytes. */
  private get sameBytes(): string {
    return NAME_COLUMNS.map((column) => `CAST(${this.quote(column)} AS BINARY) = ?`).join(' AND ');
  }

  /** Whether the connection is known to be in no transaction. MySQL tells it with its answers. */
  private async hasEnded(): Promise<boolean> {
    const { family } = this.place.dialect;
    if (family === 'postgres') return !isInPostgresTransaction((await this.runner.connect()) as object);
    if (family === 'mysql') return false;
    // SQLite rolls back by itself when the disk is full or a file cannot be read.
    const connection = (await this.runner.connect()) as { readonly inTransaction?: boolean };
    return connection.inTransaction === false;
  }
}

interface Attempt extends Increment {
  /** Outside any transaction, as MySQL's answer says. */
  readonly isCommitted: boolean;
}
