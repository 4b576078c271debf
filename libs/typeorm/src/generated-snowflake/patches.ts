import {
  type DataSource,
  type EntityMetadata,
  In,
  QueryBuilder,
  SelectQueryBuilder,
  type ValueTransformer,
} from 'typeorm';

/** TypeORM 0.3 and 1 export the class under different names. */
export type ColumnMetadata = EntityMetadata['columns'][number];

/** Registered, so that a second copy of this package in one application knows it. */
export const ATTACHED = Symbol.for('@raindrop/typeorm:attached-transformer');

/** The transformer of a column while a service is attached. `write` converts values to store, `to` values to compare. */
export interface AttachedTransformer extends ValueTransformer {
  readonly [ATTACHED]: true;
  /** A value of an insert or an update, as the database is given it. */
  write(value: unknown): unknown;
}

/** Undefined for every column that is not ours. */
export function attachedTransformer({
  transformer,
}: Pick<ColumnMetadata, 'transformer'>): AttachedTransformer | undefined {
  return transformer !== undefined && ATTACHED in transformer ? (transformer as AttachedTransformer) : undefined;
}

/**
 * Replaces a column's `compareEntityValue`, for TypeORM 0.3: it puts the relations of `relationLoadStrategy: 'query'`
 * together by what the driver delivered, not by what the property holds.
 * @returns undoes it
 */
export function compareAsRead(column: ColumnMetadata): () => void {
  const compare = column.compareEntityValue.bind(column);
  column.compareEntityValue = (entity, value) =>
    compare(entity, attachedTransformer(column)?.from(value) ?? value) as boolean;
  return () => delete (column as Partial<ColumnMetadata>).compareEntityValue;
}

const INSTALLED = Symbol.for('@raindrop/typeorm:key-lists');

/** The used part of a query builder. */
interface Builder {
  readonly expressionMap: { readonly mainAlias?: { readonly metadata: EntityMetadata } };
  getWhereInIdsCondition: (this: Builder, ids: unknown) => unknown;
  [INSTALLED]?: true;
}

/**
 * Replaces `getWhereInIdsCondition` of the query builders: rows are looked up by `id IN (...)`.
 *
 * Where the key has a transformer, TypeORM looks rows up by `(id = ?) OR (id = ?) ...`: slow, and beyond 1,000 rows an
 * error on SQLite. When it is given objects, it compares all their properties, relations included, and finds no row.
 */
export function listKeys(): void {
  const builders = QueryBuilder.prototype as unknown as Builder;
  if (builders[INSTALLED] === true) return;
  Object.defineProperty(builders, INSTALLED, { value: true });
  const condition = builders.getWhereInIdsCondition;
  builders.getWhereInIdsCondition = function (ids) {
    const { metadata } = this.expressionMap.mainAlias!;
    const { primaryColumns } = metadata;
    if (!primaryColumns.some(attachedTransformer)) return condition.call(this, ids);
    const keys = [ids].flat().map((id) => metadata.ensureEntityIdMap(id));
    const [column] = primaryColumns;
    if (primaryColumns.length === 1 && !column!.relationMetadata && !column!.embeddedMetadata) {
      return { [column!.propertyName]: In(keys.map((key) => column!.getEntityValue(key) as unknown)) };
    }
    const narrow = keys.map((key) => metadata.getEntityIdMap(key) ?? key);
    return condition.call(this, narrow);
  };
}

const RETURNS_ROWS = Symbol.for('@raindrop/typeorm:returned-rows');

/** The used part of the query builder that reads inserted rows again. */
interface Reader {
  readonly expressionMap: {
    /** `metadata` throws for a table without an entity. */
    readonly mainAlias?: { readonly hasMetadata: boolean; readonly metadata: EntityMetadata };
    readonly options: readonly string[];
    readonly orderBys: object;
  };
  where: (this: Reader, where: unknown, parameters?: unknown) => Reader;
  getMany: (this: Reader) => Promise<(object | undefined)[]>;
  [RETURNS_ROWS]?: true;
}

/** The keys of the rows that a query builder reads again, in the order of their objects. */
const READ_AGAIN = new WeakMap<Reader, readonly string[]>();

/**
 * Replaces `where` and `getMany` of the query builder with which TypeORM reads inserted rows again, on databases without
 * RETURNING (SQLite, MySQL), for the values that the database has set.
 *
 * TypeORM asks for them by `(id = ?) OR (id = ?) ...`, which is an error on SQLite beyond 1,000 rows, and takes the first
 * row that it reads for the first object: the objects of `insert([{ id: '9' }, { id: '5' }])` would hold 5 and 9. Rows are
 * listed by `id IN (...)`, and each goes to the object with its key.
 */
export function returnRowsByKey(): void {
  const readers = SelectQueryBuilder.prototype as unknown as Reader;
  if (readers[RETURNS_ROWS] === true) return;
  Object.defineProperty(readers, RETURNS_ROWS, { value: true });
  const { where, getMany } = readers;
  readers.where = function (given, ...more) {
    READ_AGAIN.delete(this);
    const { mainAlias } = this.expressionMap;
    if (!Array.isArray(given) || mainAlias?.hasMetadata !== true) return where.call(this, given, ...more);
    const { metadata } = mainAlias;
    const keys = keysOf(given as unknown[], metadata);
    if (keys === undefined) return where.call(this, given, ...more);
    READ_AGAIN.set(this, keys);
    const [column, ...others] = metadata.primaryColumns;
    const isListed = others.length === 0 && column!.embeddedMetadata === undefined && !column!.relationMetadata;
    if (!isListed) return where.call(this, given, ...more);
    const values = (given as object[]).map((each) => column!.getEntityValue(each) as unknown);
    return where.call(this, { [column!.propertyName]: In(values) }, ...more);
  };
  readers.getMany = async function () {
    const rows = await getMany.call(this);
    const keys = READ_AGAIN.get(this);
    const { options, orderBys, mainAlias } = this.expressionMap;
    // TypeORM alone has this option, for this query.
    const isReadAgain = options.includes('create-pojo') && Object.keys(orderBys).length === 0;
    if (keys === undefined || !isReadAgain) return rows;
    const byKey = new Map(rows.map((row) => [keyOf(row, mainAlias!.metadata), row]));
    // An upsert may have met a row with another key, whose object gets nothing here.
    return keys.map((key) => byKey.get(key));
  };
}

/** The keys in a list of `{ id: '9' }`; undefined for other conditions, and where a key is not that of one row. */
function keysOf(given: readonly unknown[], metadata: EntityMetadata): string[] | undefined {
  if (given.length < 2 || !metadata.primaryColumns.some(attachedTransformer)) return undefined;
  const keys: string[] = [];
  for (const each of given) {
    if (typeof each !== 'object' || each === null) return undefined;
    if (Object.keys(each).some((name) => metadata.primaryColumns.every((column) => !isOf(column, name)))) {
      return undefined;
    }
    const key = keyOf(each, metadata);
    if (key === undefined || metadata.primaryColumns.some((column) => column.getEntityValue(each) === undefined)) {
      return undefined;
    }
    keys.push(key);
  }
  const hasOthers = !metadata.primaryColumns.every(attachedTransformer);
  return hasOthers && new Set(keys).size < keys.length ? undefined : keys;
}

/** Whether a column's value stands in a property, or below it. */
function isOf({ propertyPath }: ColumnMetadata, property: string): boolean {
  return propertyPath === property || propertyPath.startsWith(`${property}.`);
}

/** The IDs in a key; another part may read differently than it was written. Undefined where one is no text or number. */
function keyOf(row: object | undefined, { primaryColumns }: EntityMetadata): string | undefined {
  const parts: string[] = [];
  for (const column of primaryColumns) {
    const attached = attachedTransformer(column);
    if (attached === undefined) continue;
    const value: unknown = row === undefined ? undefined : column.getEntityValue(row);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return undefined;
    parts.push(String(attached.to(value)));
  }
  return parts.join();
}

/**
 * Whether a property holds no ID yet. Many classes set 0 as a default, and no service issues it: 0 counts as missing, as
 * null does. Both count as missing in TypeORM's own generated columns on MySQL, too.
 */
export function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === 0 || value === '0' || value === 0n;
}

/**
 * Replaces a column's `getEntityValueMap`, from which TypeORM takes the identity of an entity: an entity without a
 * generated key is new. With a key of 0 TypeORM would look for the row 0. Several new children of one parent whose keys
 * are all 0, or all null, would be one entity to TypeORM, and it would save only the first.
 * @returns undoes it
 */
export function identifyBySetKeys(column: ColumnMetadata): () => void {
  // TypeORM 0.3 gives options as well.
  const valueMap = column.getEntityValueMap.bind(column) as (entity: object, options?: unknown) => undefined;
  column.getEntityValueMap = (entity: object, options?: unknown) =>
    isUnset(column.getEntityValue(entity)) ? undefined : valueMap(entity, options);
  return () => delete (column as Partial<ColumnMetadata>).getEntityValueMap;
}

const READS_RETURNED = Symbol.for('@raindrop/typeorm:returned-values');

type MappingDriver = Pick<DataSource['driver'], 'createGeneratedMap'> & { [READS_RETURNED]?: true };

/**
 * Replaces `driver.createGeneratedMap`, from which TypeORM sets in objects and results what `returning()` has told. It
 * sets what the driver gave: a text in a property of bigints, digits in one of typed texts. IDs are set as a SELECT reads
 * them.
 */
export function readReturned(driver: MappingDriver): void {
  if (driver[READS_RETURNED] === true) return;
  Object.defineProperty(driver, READS_RETURNED, { value: true });
  const createMap = driver.createGeneratedMap.bind(driver);
  driver.createGeneratedMap = (metadata, row: Readonly<Record<string, unknown>> | undefined, ...more) => {
    // Without RETURNING it is what the driver answers to the statement: a number, an object, or nothing.
    if (typeof row !== 'object' || row === null || isAnswer(row)) return createMap(metadata, row, ...more);
    let read: Record<string, unknown> | undefined;
    for (const column of metadata.columns) {
      const { databaseName } = column;
      if (!Object.hasOwn(row, databaseName) || row[databaseName] === undefined) continue;
      const attached = attachedTransformer(column);
      if (attached !== undefined) (read ??= { ...row })[databaseName] = attached.from(row[databaseName]);
    }
    return createMap(metadata, read ?? row, ...more);
  };
}

/** What MySQL's drivers answer to an INSERT without RETURNING: columns may be named like its properties. */
function isAnswer(row: object): boolean {
  return 'fieldCount' in row && 'affectedRows' in row && 'serverStatus' in row;
}

const CHECKS_VALUES = Symbol.for('@raindrop/typeorm:written-values');

type Driver = Pick<DataSource['driver'], 'preparePersistentValue'> & { [CHECKS_VALUES]?: true };

/**
 * Replaces `driver.preparePersistentValue`: what is written to an attached column passes its `write` first.
 *
 * A transformer is not told whether a value is written or compared. Two values differ: null must be refused in an insert
 * that calls no subscribers (a lenient MariaDB would store 0), and is legal in a condition; a decimal text must not be
 * written to a column of typed IDs, and may be compared with it.
 */
export function checkWrittenValues(driver: Driver): void {
  if (driver[CHECKS_VALUES] === true) return;
  Object.defineProperty(driver, CHECKS_VALUES, { value: true });
  const prepare = driver.preparePersistentValue.bind(driver);
  driver.preparePersistentValue = (value: unknown, column: ColumnMetadata) => {
    const attached = attachedTransformer(column);
    if (attached === undefined) return prepare(value, column) as unknown;
    const written = attached.write(value);
    // Decimal text is what the driver is given: the transformer would only check it again.
    return typeof written === 'string' ? written : (prepare(written, column) as unknown);
  };
}
