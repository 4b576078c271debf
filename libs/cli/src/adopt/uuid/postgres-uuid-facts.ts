import type { ReferencedKey } from './uuid-refusals.js';

/** The key, or a column that refers to it. */
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
  /** The text of pg_get_constraintdef. */
  readonly definition: string;
}

export interface PostgresIndex {
  readonly path: string;
  /** Its schema, quoted, with a dot. */
  readonly schema: string;
  readonly name: string;
  /** The text of pg_get_indexdef. */
  readonly definition: string;
  /** The constraint to which it belongs: `PRIMARY KEY` or `UNIQUE`, and whether it is deferrable. */
  readonly constraint: string | null;
}

/** Keys of UUIDs, and everything that depends on them. */
export interface PostgresUuid {
  readonly keys: readonly ReferencedKey<PostgresColumn>[];
  /** The columns of all keys. */
  readonly columns: readonly PostgresColumn[];
  readonly foreignKeys: readonly PostgresForeignKey[];
  readonly indexes: readonly PostgresIndex[];
}
