import { type DataSource, type EntityMetadata, In, QueryBuilder, type ValueTransformer } from 'typeorm';

/** TypeORM exports the class under no name that both its versions share. */
export type ColumnMetadata = EntityMetadata['columns'][number];

/** Registered, so that a second copy of this package in one application knows it. */
export const ATTACHED = Symbol.for('@raindrop/typeorm:attached-transformer');

/** The transformer of a column while a service is attached. It is told what is written from what is compared. */
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

/** What is used of a query builder. */
interface Builder {
  readonly expressionMap: { readonly mainAlias?: { readonly metadata: EntityMetadata } };
  getWhereInIdsCondition: (this: Builder, ids: unknown) => unknown;
  [INSTALLED]?: true;
}

/**
 * Replaces `getWhereInIdsCondition` of the query builders: rows are looked up by `id IN (...)`.
 *
 * Where the key has a transformer, TypeORM looks rows up by `(id = ?) OR (id = ?) ...`: slow, and beyond 1,000 rows an
 * error on SQLite. Of objects it then compares every property, relations as well, which it cannot find.
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

/**
 * Whether a property holds no ID yet. 0 is the default of many a class and never an ID of ours: it counts as missing, as
 * null does, and as both do for TypeORM's own generated columns on MySQL.
 */
export function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === 0 || value === '0' || value === 0n;
}

/**
 * Replaces a column's `getEntityValueMap`, by which TypeORM tells what an entity is: without its generated key it is
 * new. By a key of 0 it would look for the row 0; and several new children of one parent, all of 0 or of null, would be
 * one to it, and all but the first would be lost.
 * @returns undoes it
 */
export function identifyBySetKeys(column: ColumnMetadata): () => void {
  // TypeORM 0.3 gives options as well.
  const valueMap = column.getEntityValueMap.bind(column) as (...given: readonly unknown[]) => undefined;
  column.getEntityValueMap = (entity, ...options: readonly unknown[]) =>
    isUnset(column.getEntityValue(entity)) ? undefined : valueMap(entity, ...options);
  return () => delete (column as Partial<ColumnMetadata>).getEntityValueMap;
}

const CHECKS_VALUES = Symbol.for('@raindrop/typeorm:written-values');

type Driver = Pick<DataSource['driver'], 'preparePersistentValue'> & { [CHECKS_VALUES]?: true };

/**
 * Replaces `driver.preparePersistentValue`: what is written to an attached column passes its `write` first.
 *
 * A transformer cannot tell what is written from what is compared. Null must be refused in an insert that calls no
 * subscribers, for a lenient MariaDB would store 0, and may be looked for; a decimal text may be compared with a typed
 * ID, and must not become one.
 */
export function checkWrittenValues(driver: Driver): void {
  if (driver[CHECKS_VALUES] === true) return;
  Object.defineProperty(driver, CHECKS_VALUES, { value: true });
  const prepare = driver.preparePersistentValue.bind(driver);
  driver.preparePersistentValue = (value: unknown, column: ColumnMetadata) => {
    const attached = attachedTransformer(column);
    return prepare(attached === undefined ? value : attached.write(value), column) as unknown;
  };
}
