import type { ColumnMetadata } from './attached-transformer.js';

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
