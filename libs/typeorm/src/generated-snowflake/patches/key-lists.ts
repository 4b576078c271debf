import { In, QueryBuilder, type EntityMetadata } from 'typeorm';
import { attachedTransformer } from './attached-transformer.js';

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
