import { missingColumn, refersElsewhere, refersTwice, refuseWorkerTable } from '../refusals.js';
import type { Query } from '../old-key.js';
import { quoted } from '../postgres-names.js';
import { postgresPhases } from './postgres-uuid-phases.js';
import { refusePostgres } from './postgres-obstacles.js';
import { isAmong, referencedKeys } from './referenced-keys.js';
import { notAUuid, notUniqueAlone } from './uuid-refusals.js';
import type { UuidKeys, UuidPath } from './uuid-key.js';
import type { PostgresColumn, PostgresForeignKey, PostgresIndex, PostgresUuid } from './postgres-uuid-facts.js';

const TYPE = /^(?:uuid|text|character(?: varying)?(?:\((?:32|36)\))?)$/;

/** Looks at keys of UUIDs and at what refers to them. */
export async function readPostgresUuids(query: Query, paths: readonly UuidPath[]): Promise<UuidKeys> {
  const named: PostgresColumn[] = [];
  for (const path of paths) named.push(await readKey(query, path));
  const links = await readLinks(query);
  const keys = await referencedKeys(named, async (target) => {
    const columns: PostgresColumn[] = [];
    for (const { path, child, to, parent } of links) {
      if (to === target.path && parent === target.column) columns.push((await readColumn(query, path, child))!);
    }
    return columns;
  });
  const columns = keys.flatMap((each) => each.columns);
  for (const { path, child, to, parent } of links) {
    if (!isAmong(columns, { path, column: child }) || isAmong(columns, { path: to, column: parent })) continue;
    const key = keys.find((each) => each.key.path === path && each.key.column === child);
    if (key !== undefined) throw refersElsewhere(key.key.table, child, to);
    throw refersTwice(path, child, `${to}.${parent}`);
  }
  for (const each of keys) await refusePostgres(query, each.key, each.columns);
  const used = links.filter(({ path, child }) => isAmong(columns, { path, column: child }));
  const foreignKeys = used.filter((each, at) => used.findIndex((one) => one.oid === each.oid) === at);
  const facts: PostgresUuid = { keys, columns, foreignKeys, indexes: await readIndexes(query, columns) };
  return {
    ...{ database: 'postgres', quoted },
    keys: keys.map(({ key, columns: [, ...references] }) => ({
      ...{ path: key.path, key, references, following: references.filter((each) => isAmong(named, each)) },
      orderBy: paths[named.indexOf(key)]?.orderBy,
      hex: `LOWER(REPLACE(t.${quoted(key.column)}::text, '-', ''))`,
      first: 1n,
    })),
    phases: (numbers, floor) => postgresPhases(facts, numbers, floor),
  };
}

async function readKey(query: Query, { schema, name, column }: UuidPath): Promise<PostgresColumn> {
  const given = schema === undefined ? quoted(name) : `${quoted(schema)}.${quoted(name)}`;
  const key = await readColumn(query, given, column);
  if (key === undefined) throw missingColumn({ schema, name }, column);
  refuseWorkerTable(name, key.siblings);
  if (!TYPE.test(key.type)) throw notAUuid(name, column, key.type);
  if (!key.isUnique || key.isNullable) throw notUniqueAlone(name, column);
  return key;
}

type FoundColumn = PostgresColumn & { readonly siblings: readonly string[]; readonly isUnique: boolean };

async function readColumn(query: Query, path: string, column: string): Promise<FoundColumn | undefined> {
  const [found] = await query(
    'SELECT a.attrelid::regclass::text AS path, c.relname AS name, format_type(a.atttypid, a.atttypmod) AS type, ' +
      'NOT a.attnotnull AS nullable, pg_get_expr(d.adbin, d.adrelid) AS fallback, EXISTS (SELECT FROM pg_index i WHERE ' +
      'i.indrelid = a.attrelid AND i.indisunique AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum) ' +
      'AS alone, to_json(ARRAY(SELECT n.attname::text FROM pg_attribute n WHERE n.attrelid = a.attrelid AND n.attnum > 0 AND ' +
      "NOT n.attisdropped))::text AS siblings FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p') " +
      'LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum ' +
      'WHERE a.attrelid = to_regclass($1) AND a.attname = $2 AND a.attnum > 0 AND NOT a.attisdropped',
    [path, column],
  );
  if (found === undefined) return undefined;
  return {
    ...{ path: String(found['path']), table: String(found['name']), column, type: String(found['type']) },
    ...{ isNullable: found['nullable'] === true, fallback: found['fallback'] as string | null },
    ...{ siblings: JSON.parse(String(found['siblings'])) as string[], isUnique: found['alone'] === true },
  };
}

interface Link extends PostgresForeignKey {
  readonly oid: string;
  readonly child: string;
  readonly to: string;
  readonly parent: string;
}

async function readLinks(query: Query): Promise<Link[]> {
  const records = await query(
    'SELECT k.oid::text AS oid, k.conname AS name, k.conrelid::regclass::text AS path, a.attname AS child, ' +
      'k.confrelid::regclass::text AS target, p.attname AS parent, pg_get_constraintdef(k.oid) AS definition ' +
      'FROM pg_constraint k CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS u(child, parent) ' +
      'JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.child ' +
      'JOIN pg_attribute p ON p.attrelid = k.confrelid AND p.attnum = u.parent ' +
      "WHERE k.contype = 'f' ORDER BY k.conrelid::regclass::text, k.conname",
  );
  return records.map((each) => ({
    ...{
      oid: String(each['oid']),
      name: String(each['name']),
      path: String(each['path']),
      child: String(each['child']),
    },
    ...{ to: String(each['target']), parent: String(each['parent']), definition: String(each['definition']) },
  }));
}

/** The indexes in which one of the columns stands. */
async function readIndexes(query: Query, columns: readonly PostgresColumn[]): Promise<PostgresIndex[]> {
  const indexes = new Map<string, PostgresIndex>();
  for (const { path, column } of columns) {
    const records = await query(
      "SELECT i.indexrelid::text AS oid, quote_ident(n.nspname) || '.' AS schema, c.relname AS name, " +
        'pg_get_indexdef(i.indexrelid) AS definition, CASE k.contype ' +
        "WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' END || '|' || " +
        "CASE WHEN k.condeferrable THEN ' DEFERRABLE' ELSE '' END || CASE WHEN k.condeferred THEN ' INITIALLY DEFERRED' " +
        "ELSE '' END AS held FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = " +
        'c.relnamespace JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = $2 AND a.attnum = ANY (i.indkey) ' +
        "LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u') AND k.conrelid = i.indrelid " +
        'WHERE i.indrelid = to_regclass($1) ORDER BY c.relname',
      [path, column],
    );
    for (const each of records) {
      indexes.set(String(each['oid']), {
        ...{ path, schema: String(each['schema']), name: String(each['name']), definition: String(each['definition']) },
        constraint: each['held'] as string | null,
      });
    }
  }
  return [...indexes.values()];
}
