import type { Layout, PastIds } from '@raindrop/core';
import { PermanentError } from '@raindrop/core/internal';
import { ConfigurationError } from '@raindrop/core';
import { askWithTerm } from '../database/judge-primary.js';
import { type Dialect, execute, type Family, quoteTable, type Statement } from '../database/dialect.js';
import { OwnDatabase } from '../database/own-database.js';
import { REPLICA, ReplicaError } from '../database/server-term.js';
import type { SqlDatabase } from '../database/sql-database.js';
import type { TableName } from '../database/table-name.js';

/** A table that has IDs, or gets them, and its column of IDs. */
export interface IdColumn extends TableName {
  readonly column: string;
}

/** How long a table may be searched, ms: about 5 billion keys. */
const SEARCH_MS = 600_000;

/** The names of integers, in the words of the servers. */
const INTEGER = /^(tiny|small|medium|big)?int(eger)?\b/i;

/** How a database is searched. */
interface Search {
  /** The type of an ID as a text. */
  readonly text: string;
  /** Matches the types of integers. */
  readonly integer: RegExp;
  /** Asks for the type of a column: one record with one value, or none. */
  typeSql(dialect: Dialect, table: IdColumn): Statement;
}

const SEARCHES: Readonly<Record<Family, Search>> = {
  postgres: {
    text: 'TEXT',
    integer: INTEGER,
    typeSql: (dialect, table) => ({
      sql:
        'SELECT format_type(atttypid, NULL) AS type FROM pg_attribute ' +
        'WHERE attrelid = to_regclass($1) AND attname = $2 AND NOT attisdropped',
      values: [quoteTable(dialect, table), table.column],
    }),
  },
  mysql: {
    text: 'CHAR',
    integer: INTEGER,
    typeSql: (_dialect, { schema, name, column }) => ({
      sql:
        'SELECT data_type AS type FROM information_schema.columns ' +
        `WHERE table_schema = ${schema === undefined ? 'DATABASE()' : '?'} AND table_name = ? AND column_name = ?`,
      values: [...(schema === undefined ? [] : [schema]), name, column],
    }),
  },
  sqlite: {
    text: 'TEXT',
    // SQLite decides by these letters.
    integer: /int/i,
    typeSql: (_dialect, { schema, name, column }) => ({
      sql: `SELECT type FROM pragma_table_info(?${schema === undefined ? '' : ', ?'}) WHERE name = ? COLLATE NOCASE`,
      values: [name, ...(schema === undefined ? [] : [schema]), column],
    }),
  },
};

/**
 * The tables in which a backfill looks for IDs that its reservation could repeat. The worker's row does not know of IDs
 * that were not issued from it: keys that `raindrop adopt` has numbered, IDs of a worker table that was dropped or
 * restored, of a worker id that was given by hand, of another program.
 */
export class IdTables {
  private readonly own: OwnDatabase;
  private readonly tables: readonly IdColumn[];

  constructor(database: SqlDatabase, tables: readonly IdColumn[], opTimeoutMs: number) {
    this.own = new OwnDatabase(database, { opTimeoutMs, statementTimeoutMs: SEARCH_MS });
    // A table without a schema is the application's, as everywhere.
    this.tables = tables.map((table) => ({ ...table, schema: table.schema ?? database.schema }));
  }

  /**
   * Looks whether every column can be searched. This comes before the reservation, which would be lost.
   * @throws ConfigurationError for a table without such a column, or a column that is no integer; DatabaseCallError
   */
  async check(): Promise<void> {
    for (const table of this.tables) await requireInteger(this.own, table);
  }

  /**
   * Searches for IDs of the reservation's worker, lane and fixed bits between its first time and its last one. This
   * comes after the reservation: a process that uses the row from then on issues later IDs.
   * @throws PastOccupiedError; ReplicaError; DatabaseCallError
   */
  async refuseOccupied(ids: PastIds): Promise<void> {
    for (const table of this.tables) {
      // One statement: the server that is searched is the one that says what it is.
      const { records } = await askWithTerm(this.own, (dialect) => ({
        sql: `SELECT ${dialect.term} AS term, (${searchSql(dialect, table, ids)}) AS id`,
        values: [],
      }));
      const { term, id } = records[0]!;
      // A replica may lack what was inserted last.
      if (term === REPLICA) throw new ReplicaError();
      if (id !== null) throw new PastOccupiedError(nameOf(table), `${id as string}`, ids.workerId);
    }
  }

  close(): Promise<void> {
    return this.own.close();
  }
}

function searchSql(dialect: Dialect, table: IdColumn, { layout, workerId, lane, from, to }: PastIds): string {
  const column = dialect.quote(table.column);
  const mine = layout.pack({ tick: 0, workerId, clockBack: lane, sequence: 0 });
  return (
    `SELECT CAST(${column} AS ${SEARCHES[dialect.family].text}) FROM ${quoteTable(dialect, table)} ` +
    `WHERE ${column} BETWEEN ${layout.idFloor(from)} AND ${layout.idCeil(to)} ` +
    `AND (${column} & ${maskOf(layout)}) = ${mine} LIMIT 1`
  );
}

/** The bits of worker, lane and end value. */
function maskOf({ fields }: Layout): bigint {
  return fields
    .filter(({ role }) => role !== 'time' && role !== 'sequence')
    .reduce((mask, { bits, shift }) => mask | (((1n << BigInt(bits)) - 1n) << BigInt(shift)), 0n);
}

/** MySQL and SQLite compare a text with a number as they like, and would find nothing. @throws ConfigurationError */
async function requireInteger(own: OwnDatabase, table: IdColumn): Promise<void> {
  const search = SEARCHES[own.dialect.family];
  const { records } = await own.call((run) => execute(run, search.typeSql(own.dialect, table)));
  const type = records[0] === undefined ? undefined : String(Object.values(records[0])[0]);
  if (type !== undefined && search.integer.test(type)) return;
  const message =
    type === undefined
      ? `names ${nameOf(table)}, which does not exist: give tables with a column of IDs, such as 'orders' or { table: 'orders', column: 'order_id' }`
      : `names ${nameOf(table)} of type ${type}: only integer columns can be searched for IDs`;
  throw new ConfigurationError([{ option: 'tables', given: nameOf(table), message }]);
}

function nameOf({ schema, name, column }: IdColumn): string {
  return [schema, name, column].filter((part) => part !== undefined).join('.');
}

/** A table has an ID that a backfill could repeat. */
export class PastOccupiedError extends PermanentError {
  static override readonly name = 'PastOccupiedError';
  readonly errorCode = 'PAST_OCCUPIED';

  constructor(
    /** The column that has it, such as `orders.id`. */
    readonly column: string,
    /** The ID, as decimal text. */
    readonly id: string,
    readonly workerId: number,
  ) {
    super(
      `${column} has ID ${id} of worker ${workerId}, from the time of this backfill: its worker row does not know of it. ` +
        `Give a range of worker ids that have issued nothing, such as serviceMinWorkId 1001 and serviceMaxWorkId 1023, or ` +
        `a later from.`,
    );
  }
}
