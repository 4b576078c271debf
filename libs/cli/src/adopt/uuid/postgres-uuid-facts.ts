import type { ReferencedKey } from './uuid-refusals.js';

/** A column whose values are the key's. */
export interface PostgresColumn {
  readonly path: string;
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly fallback: string | null;
}

export interface PostgresForeignKey {
  readonly path: string;
  readonly name: string;
  /** As pg_get_constraintdef writes it. */
  readonly definition: string;
}

export interface PostgresIndex {
  readonly path: string;
  /** Its schema, quoted, with a dot. */
  readonly schema: string;
  readonly name: string;
  /** As pg_get_indexdef writes it. */
  readonly definition: string;
  /** Of the constraint that it belongs to: `PRIMARY KEY` or `UNIQUE`, and what is deferrable of it. */
  readonly constraint: string | null;
}

/** What is known of keys of UUIDs, and of all that hangs on them. */
export interface PostgresUuid {
  readonly keys: readonly ReferencedKey<PostgresColumn>[];
  /** Those of all keys. */
  readonly columns: readonly PostgresColumn[];
  readonly foreignKeys: readonly PostgresForeignKey[];
  readonly indexes: readonly PostgresIndex[];
}
