import { PermanentError } from '@raindrop/core/internal';
import { DatabaseCallError, DatabaseRefusedError } from '../database/database-errors.js';
import { retried } from '../database/own-database.js';
import { type Bind, bindings, type Dialect, quoteTable, type RunSql } from '../database/dialect.js';
import { addColumns, createTable, type Table, type TableKindName, withBeside } from './table-kind.js';
import { stateTableOf } from './state-table.js';

interface PrepareTableOptions {
  /** Whether what is missing is created. */
  readonly autoCreateTable: boolean;
  /** Is called before anything is created, and throws where nothing may be. */
  judge?(found: MissingParts): Promise<void>;
}

/**
 * Creates a table and those beside it where they are missing. Any number of processes may do so at once: the statement
 * of a process that was overtaken fails, and the process waits a little and looks again.
 *
 * @throws what {@link createMissing} throws
 */
export function prepareTable(run: RunSql, table: Table, options: PrepareTableOptions): Promise<void> {
  return retried(() => createMissing(run, table, options));
}

/**
 * The same without a second try. It looks first: an account needs no right to create a table that is there.
 *
 * @throws TableMissingError when something is missing and `autoCreateTable` is false or the account lacks the rights
 * @throws NotOurTableError
 */
export async function createMissing(run: RunSql, table: Table, options: PrepareTableOptions): Promise<void> {
  const found = await findMissing(run, table);
  if (found === undefined) return;
  await options.judge?.(found);
  if (!options.autoCreateTable) throw new TableMissingError(table, found, 'autoCreateTable is false');
  try {
    for (const statement of found.sql) await run(statement);
  } catch (error) {
    const { reason, driverCode } = error instanceof DatabaseRefusedError ? error : DatabaseCallError.from(error);
    if (table.dialect.refusal(driverCode) !== 'rights') throw error;
    throw new TableMissingError(table, found, `its account may not create it: ${reason}`);
  }
}

/**
 * Looks whether a table, and those beside it, are there with all their columns. Resolves to undefined when they are.
 *
 * @throws NotOurTableError
 */
export async function findMissing(run: RunSql, table: Table): Promise<MissingParts | undefined> {
  const missing: string[] = [];
  const sql: string[] = [];
  for (const { table: each, columns, storage } of await columnsOf(run, withBeside(table))) {
    const { kind, name } = each;
    if (columns.size === 0) {
      missing.push(name.name);
      sql.push(...createTable(each));
      continue;
    }
    await refuseStranger(run, each, columns, storage);
    const lacking = (kind.addedColumns ?? []).filter((column) => !columns.has(column.name));
    missing.push(...lacking.map((column) => `${name.name}.${column.name}`));
    if (lacking.length > 0) sql.push(...addColumns(each, lacking));
  }
  return missing.length === 0 ? undefined : { missing, sql };
}

interface Found {
  readonly table: Table;
  /** The names of its columns in lower case; none when there is no such table. */
  readonly columns: ReadonlySet<string>;
  /** See Dialect.storageOf; undefined where there is nothing to choose, or nothing tells. */
  readonly storage: string | undefined;
}

/**
 * The same look as a part of another statement. It names every column of a table, and of those beside it: where one is
 * missing the statement fails, and {@link findMissing} says which. `isWhole` judges the record that the expressions give.
 */
export function wholeness(table: Table): Look {
  const parts = withBeside(table).map((each, index) => ({ ...each, none: `none${index}`, storage: `storage${index}` }));
  return {
    expressions: (value) =>
      parts.flatMap(({ kind, dialect, name, none, storage }) => {
        const columns = [...kind.columns, ...(kind.addedColumns ?? [])].map((column) => column.name);
        // With its alias: SQLite would take the name of a column that is missing for a text.
        const named = columns.map((column) => `x.${dialect.quote(column)} IS NULL`).join(' AND ');
        return [
          [none, `(SELECT COUNT(*) FROM ${quoteTable(dialect, name)} x WHERE 1 = 0 AND ${named})`],
          [storage, dialect.storageOf(name, value)],
        ] as const;
      }),
    isWhole: (record) =>
      parts.every(({ kind, dialect, none, storage }) => {
        const told = record[storage];
        const isKept = typeof told !== 'string' || dialect.judgeStorage(told).emptied === undefined;
        return Number(record[none]) === 0 && isKept && kind.flaw === undefined;
      }),
  };
}

/** Expressions, by name, that are a part of a SELECT, and what their record says. */
interface Look {
  readonly expressions: (value: Bind) => readonly (readonly [name: string, sql: string])[];
  readonly isWhole: (record: Readonly<Record<string, unknown>>) => boolean;
}

/** In one statement: every start runs it, and the database may be far away. */
async function columnsOf(run: RunSql, tables: readonly Table[]): Promise<readonly Found[]> {
  const { values, value } = bindings(tables[0]!.dialect);
  const selects = tables.map(({ dialect, name }, index) => {
    return `SELECT ${index} AS which, ${dialect.storageOf(name, value)} AS storage, c.name AS name FROM (${dialect.columnsOf(name, value)}) c`;
  });
  const { records } = await run(selects.join(' UNION ALL '), values);
  return tables.map((table, index) => {
    const own = records.filter(({ which }) => Number(which) === index);
    const storage = own[0]?.['storage'];
    return {
      table,
      columns: new Set(own.map(({ name }) => String(name).toLowerCase())),
      storage: typeof storage === 'string' ? storage : undefined,
    };
  });
}

/** @throws NotOurTableError */
async function refuseStranger(
  run: RunSql,
  table: Table,
  columns: ReadonlySet<string>,
  storage: string | undefined,
): Promise<void> {
  const lacking = table.kind.columns.map(({ name }) => name).filter((name) => !columns.has(name));
  if (lacking.length > 0) throw new NotOurTableError(table, lacking);
  const { emptied } = storage === undefined ? {} : table.dialect.judgeStorage(storage);
  const flaw = emptied ?? (await table.kind.flaw?.(run, table));
  if (flaw !== undefined) throw new NotOurTableError(table, [], flaw);
}

/**
 * Which of the tables are kept so that a crash can lose an acknowledged commit, whatever the server's settings say, in
 * words, one for each.
 */
export async function storageWarnings(run: RunSql, table: Table): Promise<string[]> {
  const found = await columnsOf(run, withBeside(table));
  return found.flatMap(({ table: { dialect, name }, storage }) => {
    const { emptied, loses } = storage === undefined ? {} : dialect.judgeStorage(storage);
    const flaw = emptied ?? loses;
    return flaw === undefined ? [] : [`the table ${name.name} is not safe: ${flaw}`];
  });
}

/** Whether an error says that something a statement names is not there. */
export function saysGone(dialect: Dialect, error: unknown): boolean {
  const { driverCode, reason } = error instanceof DatabaseRefusedError ? error : DatabaseCallError.from(error);
  return dialect.isGone(driverCode, reason);
}

/**
 * Whether a statement on the table alone says that it is not there, or that it is another program's, without our
 * columns.
 * @throws everything else, such as a refusal of rights, which says neither
 */
export async function isGone(run: RunSql, { dialect, name, kind }: Table): Promise<boolean> {
  const [column] = kind.addedColumns ?? kind.columns;
  try {
    // With its alias: SQLite would take the name of a column that is missing for a text.
    await run(`SELECT w.${dialect.quote(column!.name)} FROM ${quoteTable(dialect, name)} w WHERE 1 = 0`);
    return false;
  } catch (error) {
    if (saysGone(dialect, error)) return true;
    throw error;
  }
}

/**
 * Whether the table, or every column that we add to it, is missing while its state is there. The table is asked again
 * by a statement of its own, for two reasons. A catalog may hide a table from the account. And the table is made before
 * its state: when another process is making both, the table is there by the time its state is.
 */
export async function hasVanished(run: RunSql, table: Table, { missing }: MissingParts): Promise<boolean> {
  const { name, kind } = table;
  const { addedColumns: added = [] } = kind;
  const isBare = added.length > 0 && added.every((column) => missing.includes(`${name.name}.${column.name}`));
  if (!isBare && !missing.includes(name.name)) return false;
  return !missing.includes(stateTableOf(name).name) && (await isGone(run, table));
}

/** The missing parts of a table and its companion tables, and the statements that add them. */
export interface MissingParts {
  /** `table`, or `table.column`. */
  readonly missing: readonly string[];
  readonly sql: readonly string[];
}

/** A table, or columns of it, are missing and may not be created. */
export class TableMissingError extends PermanentError {
  static override readonly name = 'TableMissingError';
  readonly errorCode = 'TABLE_MISSING';
  /** Which of Raindrop's tables it is. */
  readonly kind: TableKindName;
  readonly table: string;
  /** `table`, or `table.column`. */
  readonly missing: readonly string[];
  /** The statements that create it, for an account that may run them. */
  readonly sql: readonly string[];

  /** @param cure what to do about it; as a rule to create it */
  constructor({ kind, name }: Table, { missing, sql }: MissingParts, reason: string, cure = cureFor(kind)) {
    const verb = missing.length === 1 ? 'is' : 'are';
    super(`${missing.join(', ')} ${verb} missing from the database, and ${reason}. ${cure}`);
    this.kind = kind.name;
    this.table = name.name;
    this.missing = missing;
    this.sql = sql;
  }
}

function cureFor({ name, preparedBy }: Table['kind']): string {
  const prepare = preparedBy === undefined ? 'Run' : `Call ${preparedBy} at the start, run`;
  return (
    `${prepare} the statements in this error's sql (for an empty database also printed by ${name}TableSql()), ` +
    `or add ${name}TableMigration() to the migrations.`
  );
}

/** There is a table of that name, and Raindrop did not make it or cannot use it. */
export class NotOurTableError extends PermanentError {
  static override readonly name = 'NotOurTableError';
  readonly errorCode = 'NOT_OUR_TABLE';
  /** Which of Raindrop's tables was expected there. */
  readonly kind: TableKindName;
  readonly table: string;

  constructor(
    { kind, name }: Table,
    /** Empty when the table has all columns. */
    readonly missingColumns: readonly string[],
    reason = `it lacks ${missingColumns.join(', ')}`,
  ) {
    super(`The table ${name.name} exists but is not a ${kind.title}: ${reason}. Choose another tableName.`);
    this.kind = kind.name;
    this.table = name.name;
  }
}
