import type { ForeignKey } from '../mysql-foreign-keys.js';
import type { ReferencedKey } from './referenced-keys.js';

/** A column whose values are the key's. */
export interface MysqlColumn {
  readonly schema: string;
  readonly table: string;
  readonly path: string;
  readonly column: string;
  /** With character set and collation. */
  readonly type: string;
  readonly isNullable: boolean;
  /** Its own, as it is written; null where there is none. */
  readonly fallback: string | null;
}

/** An index in which one of the columns stands. */
export interface MysqlIndex {
  readonly path: string;
  readonly name: string;
  readonly isUnique: boolean;
  readonly parts: readonly { readonly column: string; readonly length: string; readonly order: string }[];
}

/** What is known of keys of UUIDs, and of all that hangs on them. */
export interface MysqlUuid {
  readonly keys: readonly ReferencedKey<MysqlColumn>[];
  /** Those of all keys. */
  readonly columns: readonly MysqlColumn[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly indexes: readonly MysqlIndex[];
  /** By path: the columns that change with every update, unless they are set. */
  readonly touched: ReadonlyMap<string, readonly string[]>;
  readonly home: string;
}
