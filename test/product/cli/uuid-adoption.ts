import type { DatabaseKind } from '../../support/servers/test-databases.js';
import { plainKey, type KeyType } from './uuid-shop.js';

/** What `raindrop adopt --from uuid --json` answers. */
export interface UuidAdoption {
  readonly keys: readonly {
    readonly table: string;
    readonly column: string;
    readonly rows: string;
    readonly order: string;
    readonly keeps: string;
  }[];
  readonly firstNewId: string;
  readonly references: readonly { readonly table: string; readonly column: string }[];
  readonly migrations: readonly { readonly migration: string; readonly file: string | null }[];
}

const BINARY: KeyType = { type: 'binary(16)', sql: (uuid) => `x'${uuid.replaceAll('-', '')}'` };

/** Every kind of key that it takes. */
export const KEYS: Readonly<Record<DatabaseKind, readonly KeyType[]>> = {
  postgres: [plainKey('uuid'), plainKey('varchar(36)'), plainKey('text')],
  mariadb: [
    plainKey('uuid'),
    plainKey('char(36) CHARACTER SET ascii COLLATE ascii_bin'),
    plainKey('varchar(36)'),
    BINARY,
  ],
  mysql: [plainKey('char(36)'), plainKey('varchar(36)'), BINARY],
  sqlite: [],
};
