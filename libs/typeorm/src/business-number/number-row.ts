import type { QueryRunner } from 'typeorm';
import {
  BUSINESS_NUMBER_TABLE,
  type Family,
  KEY_COLUMNS,
  NAME_COLUMNS,
  quoteTable,
  type Table,
} from '@raindrop/node/internal';
import { ConfigurationError } from '@raindrop/core';
import { type HeldKeys, hold } from './transaction-turns.js';
import type { NumberKey } from './business-number-options.js';
import { TransactionRequiredError } from './business-number-errors.js';

/** The fields of mysql2's answer to a write that are read here. */
interface MysqlAnswer {
  readonly affectedRows: number | string;
  /** The argument of LAST_INSERT_ID(...): a string where a number would be rounded. */
  readonly insertId: number | string;
  readonly serverStatus?: number;
}

/** A row of the table of business numbers, inside the transaction of a query runner. */
abstract class KeyedRow {
  protected readonly runner: QueryRunner;
  protected readonly table: string;
  protected readonly connection: ApplicationConnection;

  /** @throws BusinessNumberConflictError when it would wait for a transaction that waits for this one */
  constructor(
    held: HeldKeys,
    protected readonly place: Table,
    protected readonly key: NumberKey,
  ) {
    hold(held, place, key);
    this.runner = held.runner;
    this.table = quoteTable(place.dialect, place.name);
    this.connection = CONNECTIONS[place.dialect.family];
  }

  /** The INSERT of this row without its conflict clause; its placeholders are {@link keyValues}. */
  protected insert(value: bigint | string, start: bigint, alias = ''): string {
    const { dialect } = this.place;
    const key = KEY_COLUMNS.map((_, index) => this.placeholder(index));
    const values = [...key, value, start, dialect.nowMs, dialect.nowMs];
    const columns = BUSINESS_NUMBER_TABLE.columns.map(({ name }) => this.quote(name));
    return `INSERT INTO ${this.table}${alias} (${columns.join(', ')}) VALUES (${values.join(', ')})`;
  }

  /** The same with the conflict clause of PostgreSQL and SQLite, in which `n` is the row that exists already. */
  protected insertOrUpdate(value: bigint | string, start: bigint): string {
    return `${this.insert(value, start, ' AS n')} ON CONFLICT (${KEY_COLUMNS.map((column) => this.quote(column)).join(', ')}) DO UPDATE SET`;
  }

  protected keyCondition(columns: readonly (keyof NumberKey)[]): { values: (string | Buffer)[]; same: string } {
    const same = columns.map((column, index) => `${this.quote(column)} = ${this.placeholder(index)}`).join(' AND ');
    return { values: this.keyValues(columns), same };
  }

  protected keyValues(columns: readonly (keyof NumberKey)[]): (string | Buffer)[] {
    const { convertsTexts } = this.connection;
    return columns.map((column) => (convertsTexts ? Buffer.from(this.key[column], 'utf8') : this.key[column]));
  }

  protected quote(column: string): string {
    return this.place.dialect.quote(column);
  }

  private placeholder(index: number): string {
    return this.connection.convertsTexts ? MYSQL_TEXT : this.place.dialect.placeholder(index + 1);
  }
}

/** Keys are sent as bytes: a connection's character set could turn two keys into the same text. */
const MYSQL_TEXT = 'CONVERT(? USING utf8mb4)';

/** The application's connection, which is open with settings of its own. */
interface ApplicationConnection {
  /** Whether it has a character set of its own. */
  readonly convertsTexts: boolean;
  /** After a SELECT: it reads what is committed now, not when the transaction began. */
  readonly readsLatest: string;
  /** Whether the connection is known to be in no transaction. */
  hasEnded(runner: QueryRunner): Promise<boolean>;
}

const CONNECTIONS: Readonly<Record<Family, ApplicationConnection>> = {
  mysql: {
    convertsTexts: true,
    readsLatest: ' LOCK IN SHARE MODE',
    // MySQL tells it with its answers.
    hasEnded: () => Promise.resolve(false),
  },
  postgres: {
    convertsTexts: false,
    // Where the two differ, PostgreSQL has failed already.
    readsLatest: '',
    hasEnded: async (runner) => !isInPostgresTransaction((await runner.connect()) as object),
  },
  sqlite: {
    convertsTexts: false,
    readsLatest: '',
    // SQLite rolls back by itself when the disk is full or a file cannot be read.
    hasEnded: async (runner) =>
      ((await runner.connect()) as { readonly inTransaction?: boolean }).inTransaction === false,
  },
};

interface Increment {
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
    if (await this.connection.hasEnded(this.runner)) throw new TransactionRequiredError('ended');
    const increment = await (this.place.dialect.hasReturning
      ? this.incrementReturning(start, last)
      : this.incrementMysql(start, last));
    if (increment === undefined || !(increment.isCommitted || (await this.connection.hasEnded(this.runner))))
      return increment;
    await this.takeBack(increment);
    throw new TransactionRequiredError('ended');
  }

  /** Undoes an increment whose number was not returned, unless another call has incremented the row since. */
  async takeBack({ value, isFirst }: Increment): Promise<void> {
    const { values, same } = this.keyCondition(KEY_COLUMNS);
    const counter = this.quote('value');
    const write = isFirst ? `DELETE FROM ${this.table}` : `UPDATE ${this.table} SET ${counter} = ${counter} - 1`;
    // The value was counted here and has digits only.
    await this.runner.query(`${write} WHERE ${same} AND ${counter} = ${value}`, values);
  }

  /** PostgreSQL and SQLite. */
  private async incrementReturning(start: bigint, last: bigint): Promise<Attempt | undefined> {
    const [value, updated] = [this.quote('value'), this.quote('updated_ms')];
    const sql =
      `${this.insertOrUpdate(start, start)} ${value} = n.${value} + 1, ${updated} = ${this.place.dialect.nowMs} ` +
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

  /** @throws ConfigurationError when the row belongs to another name that the table's collation takes for this one */
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
      `treats another name as '${per === '' ? series : per}': its collation must compare byte by byte. Run ALTER ` +
      `TABLE ${this.table} ${changes.join(', ')}`;
    throw new ConfigurationError([{ option: 'tableName', given: `'${this.place.name.name}'`, message }]);
  }

  /** Whether the row has exactly this name, not one that differs by case or accents; its values are bytes. */
  private get sameBytes(): string {
    return NAME_COLUMNS.map((column) => `CAST(${this.quote(column)} AS BINARY) = ?`).join(' AND ');
  }
}

interface Attempt extends Increment {
  /** Outside any transaction, as MySQL's answer says. */
  readonly isCommitted: boolean;
}

/** Looks like no period, so it cannot be the key of one. */
const RESET_PERIOD = 'resets';

/**
 * One row for each series and tenant holds the length of its period text, and so its `resetBy`: 0 for `never`, 4 for
 * `2026`, 7 for `2026-03`, 10 for `2026-03-14`. A transaction that begins a period locks this row until it ends. Of two
 * transactions that begin with a different `resetBy`, the second one waits and then reads what the first one wrote.
 */
export class ResetRow extends KeyedRow {
  private readonly length: number;

  constructor(held: HeldKeys, place: Table, { series, per, period }: NumberKey) {
    super(held, place, { series, per, period: RESET_PERIOD });
    this.length = period.length;
  }

  /** Locks the row. @returns a period of another length that the series has; undefined when it may begin the new one */
  async claim(): Promise<string | undefined> {
    const { length, isNew } = await (this.place.dialect.hasReturning ? this.lockReturning() : this.lockMysql());
    if (!isNew && length === this.length) return undefined;
    // The numbers may have been written before this row existed, or may have been deleted since.
    const other = await this.otherPeriod();
    const agreed = other?.length ?? this.length;
    if (agreed !== length) await this.agree(agreed);
    return other;
  }

  /** PostgreSQL and SQLite. */
  private async lockReturning(): Promise<Lock> {
    const [value, count] = [this.quote('value'), this.quote('start_value')];
    const sql =
      `${this.insertOrUpdate(String(this.length), 1n)} ${count} = n.${count} + 1 ` +
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
      `WHERE ${same} AND ${period} <> '${RESET_PERIOD}' AND LENGTH(${period}) <> ${this.length} LIMIT 1${this.connection.readsLatest}`;
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

/** The used part of `pg`'s client; a native one has no such connection. */
interface PostgresClient {
  readonly connection?: {
    on?(event: 'readyForQuery', listener: (message: { readonly status?: string }) => void): void;
  };
}

/** The server's latest transaction status: `I` for idle, `T` in a transaction, `E` in a failed transaction. */
const statuses = new WeakMap<object, string | undefined>();

/** Whether a client is in a transaction, as the server's last answer says; true as long as none is known. */
function isInPostgresTransaction(client: object): boolean {
  if (!statuses.has(client)) {
    statuses.set(client, undefined);
    (client as PostgresClient).connection?.on?.('readyForQuery', ({ status }) => void statuses.set(client, status));
  }
  return statuses.get(client) !== 'I';
}
