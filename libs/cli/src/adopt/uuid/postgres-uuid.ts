import { missingColumn, type Query, refersElsewhere, refersTwice, refuseWorkerTable } from '../old-key.js';
import { postgresDependents, quoted } from '../postgres-names.js';
import { CommandFailedError } from '../../input-error.js';
import type { PostgresColumn, PostgresForeignKey, PostgresIndex, PostgresUuid } from './postgres-uuid-facts.js';
import { postgresPhases } from './postgres-uuid-phases.js';
import { inTheWay, isAmong, nameIsTaken, notAUuid, notUniqueAlone, referencedKeys } from './uuid-refusals.js';
import { ownName, type UuidKeys, type UuidPath } from './uuid-key.js';

const TYPE = /^(?:uuid|text|character(?: varying)?(?:\((?:32|36)\))?)$/;

/** Reads keys of UUIDs, and the columns that refer to them. */
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
    database: 'postgres',
    keys: keys.map(({ key, columns: [, ...references] }) => ({
      path: key.path,
      key,
      references,
      following: references.filter((each) => isAmong(named, each)),
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
    path: String(found['path']),
    table: String(found['name']),
    column,
    type: String(found['type']),
    isNullable: found['nullable'] === true,
    fallback: found['fallback'] as string | null,
    siblings: JSON.parse(String(found['siblings'])) as string[],
    isUnique: found['alone'] === true,
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
    oid: String(each['oid']),
    name: String(each['name']),
    path: String(each['path']),
    child: String(each['child']),
    to: String(each['target']),
    parent: String(each['parent']),
    definition: String(each['definition']),
  }));
}

/** Reads the indexes over one of the columns. */
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
        path,
        schema: String(each['schema']),
        name: String(each['name']),
        definition: String(each['definition']),
        constraint: each['held'] as string | null,
      });
    }
  }
  return [...indexes.values()];
}

/** SQL for everything that would go on using the old column, or be lost with it. */
const READERS =
  // Views and rules.
  "SELECT 'the view ' || r.ev_class::regclass::text AS what FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid " +
  "WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = $1::regclass AND d.refobjsubid = $2::int " +
  // A trigger may read any column, and would fire for every row that is numbered.
  "UNION SELECT 'the trigger ' || g.tgname FROM pg_trigger g WHERE g.tgrelid = $1::regclass AND NOT g.tgisinternal " +
  "AND g.tgname NOT LIKE 'raindrop\\_%' " +
  // These would stay at the old column.
  "UNION SELECT 'the comment' WHERE col_description($1::regclass, $2::int) IS NOT NULL " +
  "UNION SELECT 'the grant' FROM pg_attribute a WHERE a.attrelid = $1::regclass AND a.attnum = $2::int AND a.attacl IS NOT NULL " +
  "UNION SELECT 'the policy ' || p.polname FROM pg_policy p WHERE p.polrelid = $1::regclass " +
  "UNION SELECT 'the generated column ' || a.attname FROM pg_attribute a JOIN pg_attrdef f ON f.adrelid = a.attrelid AND " +
  "f.adnum = a.attnum JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refobjid = $1::regclass " +
  "AND d.refobjsubid = $2::int WHERE a.attrelid = $1::regclass AND a.attgenerated <> '' " +
  "UNION SELECT 'the constraint ' || k.conname FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND " +
  "a.attnum = $2::int WHERE k.conrelid = $1::regclass AND k.contype IN ('c', 'x') AND a.attnum = ANY (k.conkey) " +
  "AND k.conname NOT LIKE 'raindrop\\_%' " +
  "UNION SELECT 'the statistics ' || s.stxname FROM pg_statistic_ext s WHERE s.stxrelid = $1::regclass AND $2::int = ANY (s.stxkeys) " +
  // Indexes over an expression, or with a collation or operators that only texts have.
  "UNION SELECT 'the index ' || i.indexrelid::regclass::text FROM pg_depend d JOIN pg_index i ON i.indexrelid = d.objid WHERE " +
  "d.classid = 'pg_class'::regclass AND d.refobjid = $1::regclass AND d.refobjsubid = $2::int AND (i.indpred IS NOT NULL OR " +
  "i.indexprs IS NOT NULL OR pg_get_indexdef(i.indexrelid) ~ ' COLLATE |_ops')";

/**
 * Refuses everything that would go on using the old column, or be lost with it, or has a name that is needed.
 * @throws CommandFailedError
 */
async function refusePostgres(query: Query, key: PostgresColumn, columns: readonly PostgresColumn[]): Promise<void> {
  for (const each of columns) {
    const { path, table, column } = each;
    const [place] = await query(
      'SELECT a.attnum::text AS at, c.relkind AS kind, c.relispartition OR EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent ' +
        '= c.oid OR h.inhrelid = c.oid) AS related, to_json(ARRAY(SELECT n.attname::text FROM pg_attribute n ' +
        'WHERE n.attrelid = c.oid AND NOT n.attisdropped))::text AS names FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = $2 ' +
        'WHERE c.oid = to_regclass($1)',
      [path, column],
    );
    const { at, kind, related, names } = place as { at: string; kind: string; related: boolean; names: string };
    if (kind === 'p' || related) throw inTheWay(`the partitioning or inheritance of ${path}`, `${table}.${column}`);
    const [reader] = await query(`${READERS} ORDER BY 1 LIMIT 1`, [path, at]);
    if (reader !== undefined) throw inTheWay(String(reader['what']), `${table}.${column}`);
    const [dependent] = await query(postgresDependents(each));
    if (dependent !== undefined) throw new CommandFailedError(String(dependent['what']));
    if (each !== key && each.fallback !== null) throw inTheWay(`the default ${each.fallback}`, `${table}.${column}`);
    const needed = [ownName(column), ...(each === key ? [`${column}_uuid`] : [])];
    const taken = needed.find((name) => (JSON.parse(names) as string[]).includes(name));
    if (taken !== undefined) throw nameIsTaken(table, taken);
  }
}
