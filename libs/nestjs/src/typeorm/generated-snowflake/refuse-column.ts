import type { DataSource } from 'typeorm';
import type { Layout } from '@raindrop/core';
import type { GeneratedColumn } from './generated-column.js';
import { UnsupportedColumnError } from './snowflake-errors.js';

/** What a column is judged by. */
export interface ColumnSurroundings {
  readonly database: DataSource['options']['type'];
  readonly layout: Layout;
  readonly nowMs: number;
  /** Whether a foreign key, a junction or a tree points at the column. */
  readonly isReferenced: boolean;
}

/** @throws UnsupportedColumnError when IDs in this column would fail or lose digits later */
export function refuseColumn({ column, mark, place }: GeneratedColumn, about: ColumnSurroundings): void {
  const reason = reasonAgainst(column, mark.as, about);
  if (reason !== undefined) throw new UnsupportedColumnError(place, reason);
}

function reasonAgainst(
  column: GeneratedColumn['column'],
  as: GeneratedColumn['mark']['as'],
  { database, layout, nowMs, isReferenced }: ColumnSurroundings,
): string | undefined {
  if (database === 'mongodb') return 'MongoDB has no such columns; use ids.nextString() there';
  if (column.type !== 'bigint') return `its type must stay 'bigint', not '${String(column.type)}'`;
  if (column.isGenerated) return 'the database generates this column already; use one of the two';
  if (column.referencedColumn !== undefined) return 'it is a foreign key as well, whose value comes from the relation';
  const { safeUntil } = layout;
  if (as === 'number' && safeUntil !== null && safeUntil.getTime() <= nowMs) {
    return `this layout's IDs have passed 2^53 - 1 since ${safeUntil.toISOString()}: make the property a string`;
  }
  if (as === 'bigint' && column.isPrimary && (isReferenced || column.entityMetadata.relations.length > 0)) {
    return 'TypeORM cannot handle a bigint as the key of an entity with relations: make the property a string';
  }
  if (as === 'bigint' && isReferenced) {
    return 'TypeORM cannot handle a bigint that a relation refers to: make the property a string';
  }
  return undefined;
}
