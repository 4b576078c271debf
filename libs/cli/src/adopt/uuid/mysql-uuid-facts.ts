import { type ForeignKey, quoted } from '../mysql-names.js';
import type { Query } from '../old-key.js';
import { inTheWay, type ReferencedKey } from './uuid-refusals.js';
import { ownName, type Replaced } from './uuid-key.js';

/** The key, or a column that refers to it. */
export interface MysqlColumn {
  readonly schema: string;
  readonly table: string;
  readonly path: string;
  readonly column: string;
  /** The type, with character set and collation. */
  readonly type: string;
  readonly isNullable: boolean;
  /** The default, as the table writes it; null when there is none. */
  readonly fallback: string | null;
}

/** An index over one of the columns. */
export interface MysqlIndex {
  readonly path: string;
  readonly name: string;
  readonly isUnique: boolean;
  readonly parts: readonly { readonly column: string; readonly length: string; readonly order: string }[];
}

/** Keys of UUIDs, and everything that depends on them. */
export interface MysqlUuid {
  readonly keys: readonly ReferencedKey<MysqlColumn>[];
  /** The columns of all keys. */
  readonly columns: readonly MysqlColumn[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly indexes: readonly MysqlIndex[];
  /** By the table's path: its ON UPDATE columns, which change with every update unless it sets them. */
  readonly touched: ReadonlyMap<string, readonly string[]>;
  readonly home: string;
}

export async function readMysqlIndexes(query: Query, columns: readonly MysqlColumn[]): Promise<MysqlIndex[]> {
  const tables = columns.filter((each, at) => columns.findIndex(({ path }) => path === each.path) === at);
  const found: MysqlIndex[] = [];
  for (const { schema, table, path } of tables) {
    const records = (await query(
      'SELECT INDEX_NAME AS name, NON_UNIQUE AS many, COLUMN_NAME AS col, SUB_PART AS part, COLLATION AS sorted, ' +
        'INDEX_TYPE AS kind FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ' +
        'ORDER BY INDEX_NAME, SEQ_IN_INDEX',
      [schema, table],
    )) as readonly Record<'name' | 'many' | 'col' | 'part' | 'sorted' | 'kind', string | null>[];
    const mine = columns.filter((each) => each.path === path);
    for (const name of new Set(records.map((each) => each.name!))) {
      const parts = records.filter((each) => each.name === name);
      if (!parts.some(({ col }) => mine.some(({ column }) => column === col))) continue;
      if (parts.some(({ kind, col }) => kind !== 'BTREE' || col === null)) throw inTheWay(`the index ${name}`, table);
      found.push({
        path,
        name,
        isUnique: Number(parts[0]!.many) === 0,
        parts: parts.map(({ col, part, sorted }) => ({
          column: col!,
          length: part === null || mine.some(({ column }) => column === col) ? '' : `(${part})`,
          order: sorted === 'D' ? ' DESC' : '',
        })),
      });
    }
  }
  return found;
}

export function freshIndex({ name }: MysqlIndex, at: number): string {
  return ownName(name, `${at}_`);
}

/** `INDEX name (columns)` over the new columns, or over the old ones. */
export function indexSql(index: MysqlIndex, name: string, replaced: readonly Replaced[]): string {
  const mine = replaced.filter(({ path }) => path === index.path);
  const columns = index.parts.map(({ column, length, order }) => {
    const fresh = mine.find((each) => each.column === column)?.fresh ?? column;
    return `${quoted(fresh)}${length}${order}`;
  });
  return `${index.isUnique ? 'UNIQUE ' : ''}INDEX ${quoted(name)} (${columns.join(', ')})`;
}

/** `PRIMARY KEY (columns)` over the new columns, or over the old ones. */
export function primaryKey(index: MysqlIndex, replaced: readonly Replaced[]): string {
  return indexSql(index, 'PRIMARY', replaced).replace('UNIQUE INDEX `PRIMARY`', 'PRIMARY KEY');
}
