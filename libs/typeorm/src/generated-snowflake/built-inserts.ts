import { type DataSource, type EntityMetadata, InsertQueryBuilder } from 'typeorm';
import { dataSourceOf } from '../connection/data-source-of.js';
import { databaseDefaultOf } from './database-defaults.js';
import { markOfColumn, placeOf } from './generated-column.js';
import type { ColumnMetadata } from './patches.js';
import { type NotAssignedCause, SnowflakeNotAssignedError } from './snowflake-errors.js';
import { joining } from './snowflake-subscriber.js';

const INSTALLED = Symbol.for('@raindrop/typeorm:built-inserts');

/** The used part of a query builder that inserts. */
interface Builder {
  readonly dataSource: DataSource;
  readonly expressionMap: {
    readonly mainAlias?: {
      readonly hasMetadata: boolean;
      readonly metadata: EntityMetadata;
      /** `orders` or `shop.orders`, also without metadata. */
      readonly tablePath?: string;
    };
    /** The list of columns: paths of properties; names of columns where the table has no entity. */
    readonly insertColumns: readonly string[];
    /** Undefined for `valuesFromSelect`. */
    readonly valuesSet?: object | readonly object[];
  };
  getInsertedColumns: (this: Builder) => ColumnMetadata[];
  getQuery: (this: Builder) => string;
  [INSTALLED]?: true;
}

/**
 * Replaces `getQuery` of the query builders that insert: no SQL is made that leaves a column with `databaseDefault` to the
 * database. The row would get an ID that no object knows. `execute()` calls it, and so does a statement that has the insert
 * as a common table expression. SQL written by hand does not pass here, and gets IDs of the database.
 *
 * The declaration of a column calls this: rows are inserted before a service is attached, and after it was detached.
 */
export function guardBuilders(): void {
  const builders = InsertQueryBuilder.prototype as unknown as Builder;
  if (builders[INSTALLED] === true) return;
  Object.defineProperty(builders, INSTALLED, { value: true });
  const { getQuery } = builders;
  builders.getQuery = function () {
    refuseLeftOut(this);
    return getQuery.call(this);
  };
}

/** @throws SnowflakeNotAssignedError */
function refuseLeftOut(builder: Builder): void {
  const { mainAlias } = builder.expressionMap;
  if (mainAlias === undefined) return;
  const dataSource = dataSourceOf(builder);
  const path = mainAlias.hasMetadata ? mainAlias.metadata.tablePath : (mainAlias.tablePath ?? '');
  const declared = declaredIn(dataSource, path);
  if (declared.length === 0) return;
  const listed = listedIn(builder);
  for (const column of declared) {
    const causesIn = listed.get(column.databaseName);
    const why = causesIn === undefined ? 'column-list' : rowsOf(builder).flatMap(causesIn).find(Boolean);
    if (why === undefined) continue;
    const names = new Set([...listed.keys()].map((name) => name.toLowerCase()));
    const relation =
      why === 'column-list' ? joining(dataSource, { table: path.toLowerCase(), columns: names }) : undefined;
    const { service } = markOfColumn(column)!;
    throw new SnowflakeNotAssignedError(
      service,
      placeOf(column),
      relation === undefined ? why : 'join-table',
      undefined,
      relation,
    );
  }
}

/** The columns of the database that a statement lists, and why a row leaves one to the database all the same. */
type Listed = ReadonlyMap<string, (row: object) => (NotAssignedCause | undefined)[]>;

function listedIn(builder: Builder): Listed {
  const { mainAlias, insertColumns } = builder.expressionMap;
  const inserted = mainAlias?.hasMetadata === true ? builder.getInsertedColumns() : [];
  if (inserted.length > 0) {
    return new Map(
      inserted.map((column) => [column.databaseName, (row) => [causeOf(column.getEntityValue(row), column)]]),
    );
  }
  // Otherwise TypeORM writes the values of each object in the order of its properties, whatever these are called.
  const rows = rowsOf(builder);
  const [first, ...rest] = rows.map((row) => Object.keys(row));
  const list = insertColumns.length > 0 || first === undefined || rest.length > 0 ? insertColumns : first;
  if (list.length > 0) return new Map(list.map((name, at) => [name, (row) => [causeOf(Object.values(row)[at])]]));
  // It lists no columns then, and any of the values may be that of the key.
  const common = (first ?? []).filter((name) => rest.every((names) => names.includes(name)));
  return new Map(common.map((name) => [name, (row) => Object.values(row).map((value) => causeOf(value))]));
}

function causeOf(value: unknown, column?: ColumnMetadata): NotAssignedCause | undefined {
  if (typeof value === 'function' && isDefault((value as () => unknown)())) return 'default';
  // TypeORM writes DEFAULT. The transformer of a column of ours refuses it, and a default of another one is read back.
  const isKnown = column !== undefined && (markOfColumn(column) !== undefined || column.default !== undefined);
  return value === undefined && !isKnown ? 'silent' : undefined;
}

/** `DEFAULT` as PostgreSQL reads it: in parentheses too, and beside comments. */
function isDefault(sql: unknown): boolean {
  return typeof sql === 'string' && /^[\s(]*default[\s)]*$/i.test(sql.replace(/--.*|\/\*[^]*?\*\//g, ' '));
}

function rowsOf({ expressionMap: { valuesSet } }: Builder): object[] {
  // Holes in the array are no rows.
  return typeof valuesSet === 'object' ? [valuesSet].flat<object[]>() : [];
}

/** Columns with `databaseDefault` of a DataSource that is initialised, by their tables' names. */
type Declared = ReadonlyMap<string, ReadonlySet<ColumnMetadata>>;

const DECLARED = new WeakMap<readonly EntityMetadata[], Declared>();

/** The columns with `databaseDefault` that a table has, whichever entity declares them. */
function declaredIn({ entityMetadatas, driver }: DataSource, path: string): ColumnMetadata[] {
  const [table, given] = path.split('.').reverse();
  const columns = declaredOf(entityMetadatas).get(table!);
  if (columns === undefined) return [];
  const own = (driver as { readonly schema?: string }).schema;
  return [...columns].filter(({ entityMetadata: { schema = own } }) => (given ?? own) === schema);
}

function declaredOf(entityMetadatas: readonly EntityMetadata[]): Declared {
  const known = DECLARED.get(entityMetadatas);
  if (known !== undefined) return known;
  const byTable = new Map<string, Set<ColumnMetadata>>();
  for (const { columns, tableName } of entityMetadatas) {
    for (const column of columns) {
      if (databaseDefaultOf(column) === undefined) continue;
      byTable.set(tableName, (byTable.get(tableName) ?? new Set()).add(column));
    }
  }
  DECLARED.set(entityMetadatas, byTable);
  return byTable;
}
