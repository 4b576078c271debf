import type { MigrationStep, OldKey, Query, TablePath } from './old-key.js';
import { missingColumn, notAnInteger, refersElsewhere } from './refusals.js';

interface Column {
  /** Quoted, with its schema where that was given or differs. */
  readonly path: string;
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

const INTEGER = ['smallint', 'integer', 'bigint'];

/**
 * PostgreSQL takes foreign keys along when a type changes; identity or default go, so that nobody else makes keys. The
 * sequence behind a serial column stays: `down` needs it.
 */
export async function readPostgresKey(query: Query, { schema, name }: TablePath, column: string): Promise<OldKey> {
  const path = schema === undefined ? quoted(name) : `${quoted(schema)}.${quoted(name)}`;
  const [found] = await query(
    'SELECT format_type(a.atttypid, a.atttypmod) AS type, a.attidentity AS identity, ' +
      'pg_get_expr(d.adbin, d.adrelid) AS fallback, pg_get_serial_sequence($1, $2) AS sequence ' +
      'FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum ' +
      'WHERE a.attrelid = to_regclass($1) AND a.attname = $2 AND a.attnum > 0 AND NOT a.attisdropped',
    [path, column],
  );
  if (found === undefined) throw missingColumn({ schema, name }, column);
  const { type, identity, fallback, sequence } = found as Record<string, string>;
  if (!INTEGER.includes(type!)) throw notAnInteger(name, column, type!);
  const [upwards] = await query(
    'SELECT k.confrelid::regclass::text AS target FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid ' +
      "AND a.attnum = ANY (k.conkey) WHERE k.contype = 'f' AND k.conrelid = to_regclass($1) " +
      'AND k.confrelid <> k.conrelid AND a.attname = $2',
    [path, column],
  );
  if (upwards !== undefined) throw refersElsewhere(name, column, String(upwards['target']));

  const key: Column = { path, table: name, column, type: type! };
  const columns = [key];
  for (const target of columns) {
    for (const child of await referring(query, target)) {
      if (!columns.some((each) => each.path === child.path && each.column === child.column)) columns.push(child);
    }
  }
  const references = columns.filter((each) => each !== key && !(each.path === key.path && each.column === column));
  const alter = `ALTER TABLE ${path} ALTER COLUMN ${quoted(column)}`;
  const highestSql = `SELECT MAX(${quoted(column)})::text AS highest FROM ${path}`;
  const [top] = await query(highestSql);
  return {
    ...{ database: 'postgres', table: name, column, type: type!, highestSql },
    isGenerated: identity !== '' || fallback != null,
    highest: BigInt((top?.['highest'] as string | null | undefined) ?? 0),
    references: references.map(({ table, column: each, type: its }) => ({ table, column: each, type: its })),
    steps: {
      up: [
        ...(identity !== '' ? [{ sql: `${alter} DROP IDENTITY` }] : []),
        ...(fallback != null ? [{ sql: `${alter} DROP DEFAULT` }] : []),
        ...[key, ...references].filter((each) => each.type !== 'bigint').map(widen),
      ],
      down: downOf(alter, { path, column, identity: identity!, fallback, sequence }),
    },
  };
}

async function referring(query: Query, { path, column }: Column): Promise<Column[]> {
  const records = await query(
    'SELECT k.conrelid::regclass::text AS path, c.relname AS name, a.attname AS child, ' +
      'format_type(a.atttypid, a.atttypmod) AS type ' +
      'FROM pg_constraint k CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS u(child, parent) ' +
      'JOIN pg_class c ON c.oid = k.conrelid ' +
      'JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.child ' +
      'JOIN pg_attribute p ON p.attrelid = k.confrelid AND p.attnum = u.parent ' +
      "WHERE k.contype = 'f' AND k.conparentid = 0 AND k.confrelid = to_regclass($1) AND p.attname = $2",
    [path, column],
  );
  return records.map((each) => ({
    ...{ path: String(each['path']), table: String(each['name']) },
    ...{ column: String(each['child']), type: String(each['type']) },
  }));
}

function widen({ path, column }: Column): MigrationStep {
  return { sql: `ALTER TABLE ${path} ALTER COLUMN ${quoted(column)} TYPE bigint` };
}

function downOf(
  alter: string,
  key: { path: string; column: string; identity: string; fallback?: string | undefined; sequence?: string | undefined },
): MigrationStep[] {
  const next = `(SELECT COALESCE(MAX(${quoted(key.column)}), 0) + 1 FROM ${key.path})`;
  if (key.identity !== '') {
    const always = key.identity === 'a' ? 'ALWAYS' : 'BY DEFAULT';
    const sequence = `pg_get_serial_sequence(${literal(key.path)}, ${literal(key.column)})`;
    return [
      { sql: `${alter} ADD GENERATED ${always} AS IDENTITY` },
      { sql: `SELECT setval(${sequence}, ${next}, false)` },
    ];
  }
  if (key.fallback == null) return [];
  const back = { sql: `${alter} SET DEFAULT ${key.fallback}` };
  if (key.sequence == null) return [back];
  return [
    { sql: `ALTER SEQUENCE ${key.sequence} AS bigint MAXVALUE 9223372036854775807` },
    { sql: `SELECT setval(${literal(key.sequence)}, ${next}, false)` },
    back,
  ];
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
