import type { DataSource, EntityMetadata } from 'typeorm';
import { GeneratedColumn, ownsColumn, ReferenceColumn } from './generated-column.js';
import { attachedTransformer, type ColumnMetadata } from './patches/attached-transformer.js';
import type { SnowflakeSource } from './snowflake-source.js';
import { markOf, type SnowflakeMark } from './snowflake-transformer.js';

/** The columns of a DataSource that one service has to do with. */
export interface FoundColumns {
  readonly generated: readonly GeneratedColumn[];
  readonly references: readonly ReferenceColumn[];
}

/** Finds the columns that a service is to fill, and those that point at them. */
export function findColumns(
  { entityMetadatas }: DataSource,
  { name, layout }: Pick<SnowflakeSource, 'name' | 'layout'>,
): FoundColumns {
  const columns = new Set(entityMetadatas.flatMap((metadata) => metadata.columns));
  const generated = new Map<ColumnMetadata, GeneratedColumn>();
  for (const column of columns) {
    const mark = markOf(column.transformer) ?? attachedMarkOf(column);
    if (mark?.service === name) generated.set(column, new GeneratedColumn(column, mark, layout));
  }
  const references: ReferenceColumn[] = [];
  for (const column of columns) {
    const key = keyBehind(column, generated);
    if (key !== undefined) references.push(new ReferenceColumn(column, key));
  }
  return { generated: [...generated.values()], references };
}

/** Of a column that is attached already. */
function attachedMarkOf(column: ColumnMetadata): SnowflakeMark | undefined {
  return (attachedTransformer(column) as Partial<GeneratedColumn> | undefined)?.mark;
}

/** A foreign key may point at a key that is a foreign key itself. */
function keyBehind(
  column: ColumnMetadata,
  generated: ReadonlyMap<ColumnMetadata, GeneratedColumn>,
): GeneratedColumn | undefined {
  const seen = new Set<ColumnMetadata>();
  for (let next = column.referencedColumn; next !== undefined && !seen.has(next); next = next.referencedColumn) {
    const key = generated.get(next);
    if (key !== undefined) return key;
    seen.add(next);
  }
  return undefined;
}

/** Groups columns by the entities whose rows have them. */
export function columnsByEntity(
  dataSource: DataSource,
  generated: readonly GeneratedColumn[],
): Map<EntityMetadata, GeneratedColumn[]> {
  const byEntity = new Map<EntityMetadata, GeneratedColumn[]>();
  for (const metadata of dataSource.entityMetadatas) {
    const owned = metadata.columns.filter((column) => ownsColumn(metadata, column));
    const columns = generated.filter(({ column }) => owned.includes(column));
    if (columns.length > 0) byEntity.set(metadata, columns);
  }
  return byEntity;
}
