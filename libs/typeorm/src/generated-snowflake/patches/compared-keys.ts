import { attachedTransformer, type ColumnMetadata } from './attached-transformer.js';

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
