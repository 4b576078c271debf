import type { DataSource, EntityMetadata } from 'typeorm';
import { convertValues, type ColumnMetadata } from './column-values.js';
import { conditionTransformer, convertConditions } from './condition-values.js';
import type { GeneratedColumn, ReferenceColumn } from './generated-column.js';

/**
 * Converts what is written to, read from and compared with the columns.
 *
 * TypeORM compares the values of a typed text in several places of its own, so such a column keeps a transformer, with
 * all that it costs; see `convertValues`.
 * @returns undoes it
 */
export function bindColumns(
  { driver, entityMetadatas }: DataSource,
  columns: readonly (GeneratedColumn | ReferenceColumn)[],
): () => void {
  const undo = columns.map((each) => {
    const { column } = each;
    const { transformer } = column;
    const isTyped = each.form.prefix !== undefined;
    const unconvert = convertValues(driver, column, each);
    column.transformer = isTyped ? conditionTransformer(each) : undefined;
    const entities = entityMetadatas.filter((entity) => entity.columns.includes(column));
    const restore = isTyped ? narrowIds(column.isPrimary ? entities : []) : convertConditions(column, each, entities);
    compareAsRead(each);
    return () => {
      delete (column as Partial<ColumnMetadata>).compareEntityValue;
      unconvert();
      column.transformer = transformer;
      restore();
    };
  });
  return () => {
    for (const each of undo) each();
  };
}

/** TypeORM 0.3 puts the relations of `relationLoadStrategy: 'query'` together by what the driver delivered. */
function compareAsRead(each: GeneratedColumn | ReferenceColumn): void {
  const { column } = each;
  const compare = column.compareEntityValue.bind(column);
  column.compareEntityValue = (entity, value) => compare(entity, each.read(value)) as boolean;
}

/**
 * Where TypeORM looks up rows by entities, and the key has a transformer, it compares every property that they have:
 * relations as well, which it then cannot find.
 */
function narrowIds(entities: readonly EntityMetadata[]): () => void {
  for (const entity of entities) {
    const ensure = entity.ensureEntityIdMap.bind(entity);
    entity.ensureEntityIdMap = (id) => {
      const map = ensure(id);
      return entity.getEntityIdMap(map) ?? map;
    };
  }
  return () => {
    for (const entity of entities) delete (entity as Partial<EntityMetadata>).ensureEntityIdMap;
  };
}
