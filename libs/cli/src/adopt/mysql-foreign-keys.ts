import { pathSql, quoted, type PlacedTable } from './mysql-names.js';
import type { Query } from './old-key.js';

/** A foreign key as it is made again. */
export interface ForeignKey extends PlacedTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly target: PlacedTable & { readonly columns: readonly string[] };
  /** ` ON DELETE ... ON UPDATE ...` */
  readonly rules: string;
}

/** Every foreign key of the server that the account may see. */
export async function foreignKeys(query: Query): Promise<ForeignKey[]> {
  const records = (await query(
    'SELECT k.TABLE_SCHEMA AS s, k.TABLE_NAME AS t, k.CONSTRAINT_NAME AS n, k.COLUMN_NAME AS c, ' +
      'k.REFERENCED_TABLE_SCHEMA AS rs, k.REFERENCED_TABLE_NAME AS rt, k.REFERENCED_COLUMN_NAME AS rc, ' +
      'r.DELETE_RULE AS d, r.UPDATE_RULE AS u FROM information_schema.KEY_COLUMN_USAGE k ' +
      'JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA ' +
      'AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME ' +
      'WHERE k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY s, t, n, k.ORDINAL_POSITION',
  )) as readonly Record<string, string>[];
  const byName = new Map<string, Record<string, string>[]>();
  for (const each of records) {
    const name = JSON.stringify([each['s'], each['t'], each['n']]);
    byName.set(name, [...(byName.get(name) ?? []), each]);
  }
  return [...byName.values()].map((parts) => {
    const { s, t, n, rs, rt, d, u } = parts[0] as Record<'s' | 't' | 'n' | 'rs' | 'rt' | 'd' | 'u', string>;
    const target = { schema: rs, table: rt, columns: parts.map((part) => part['rc']!) };
    const rules = ` ON DELETE ${d} ON UPDATE ${u}`;
    return { schema: s, table: t, name: n, columns: parts.map((part) => part['c']!), target, rules };
  });
}

export function addForeignKey({ name, columns, target, rules, ...place }: ForeignKey, home: string): string {
  const list = (names: readonly string[]): string => names.map(quoted).join(', ');
  // Without a name of its own the other table is looked for in the database of the one that refers.
  const parent = place.schema === home ? pathSql(target, home) : `${quoted(target.schema)}.${quoted(target.table)}`;
  const refers = `FOREIGN KEY (${list(columns)}) REFERENCES ${parent} (${list(target.columns)})`;
  return `ALTER TABLE ${pathSql(place, home)} ADD CONSTRAINT ${quoted(name)} ${refers}${rules}`;
}

export function dropForeignKey({ name, ...place }: ForeignKey, home: string): string {
  return `ALTER TABLE ${pathSql(place, home)} DROP FOREIGN KEY ${quoted(name)}`;
}
