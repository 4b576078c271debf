import type { EntityMetadata, ValueTransformer } from 'typeorm';

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
