import {
  type Candidate,
  type KeyPath,
  looseColumns,
  type MigrationStep,
  missingColumn,
  notAKey,
  notAnInteger,
  numberIn,
  type OldKey,
  type OldKeys,
  type Query,
  refersElsewhere,
  refuseWorkerTable,
} from './old-key.js';
import { literal, postgresContents, postgresCounters, postgresDependents, quoted } from './postgres-names.js';

interface Column {
  /** The table as SQL names it: quoted where needed, with its schema where the search path does not contain it. */
  readonly path: string;
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

interface Key extends Column {
  /** `a` (always) or `d` (by default) for an identity column, else empty. */
  readonly identity: string;
  readonly fallback: string | null | undefined;
  readonly sequence: Sequence | undefined;
}

/** The sequence that makes the values of a key. `DROP IDENTITY` drops it, with everything that is said here. */
interface Sequence {
  readonly path: string;
  readonly start: bigint;
  readonly step: bigint;
  /** Undefined where it is the one of the type. */
  readonly min: bigint | undefined;
  readonly max: bigint | undefined;
  readonly cache: string;
  readonly isCycling: boolean;
  /** The value that it would give next. */
  readonly next: bigint;
  readonly comment: string | null;
  readonly owner: string;
  /** Null as long as nothing was granted or revoked. */
  readonly rights: readonly Right[] | null;
}

interface Right {
  readonly grantee: string;
  readonly privilege: string;
  readonly isGrantable: boolean;
}

const INTEGER = ['smallint', 'integer', 'bigint'];
const BITS: Readonly<Record<string, number>> = { smallint: 16, integer: 32, bigint: 64 };
const LARGEST = 2n ** 63n - 1n;

/** The sequence of a serial column, or of a default with a sequence that no column owns. */
const SEQUENCE =
  'COALESCE(pg_get_serial_sequence($1, $2), (SELECT e.refobjid::regclass::text FROM pg_depend e JOIN pg_class s ' +
  "ON s.oid = e.refobjid AND s.relkind = 'S' WHERE e.classid = 'pg_attrdef'::regclass AND e.objid = d.oid LIMIT 1))";

/** SQL: whether the column is part of the primary key, or unique by itself. */
const IS_KEY =
  'EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND (i.indisprimary AND a.attnum = ANY (i.indkey) ' +
  'OR i.indisunique AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum))';

/**
 * PostgreSQL changes foreign keys along with a type. Identity or default are removed, so that the database makes no
 * more keys. The sequence of a serial column stays: `down` needs it.
 */
export async function readPostgresKeys(query: Query, paths: readonly KeyPath[]): Promise<OldKeys> {
  const keys: Key[] = [];
  for (const path of paths) keys.push(await readKey(query, path));
  const columns: Column[] = [...keys];
  for (const target of columns) {
    for (const child of await referring(query, target)) if (!isAmong(columns, child)) columns.push(child);
  }
  for (const key of keys) {
    const upwards = (await referredBy(query, key)).find((each) => each.path !== key.path && !isAmong(columns, each));
    if (upwards !== undefined) throw refersElsewhere(key.table, key.column, upwards.path);
  }
  const toWiden = columns.filter((each) => each.type !== 'bigint');
  const guards = [
    ...toWiden.map(postgresDependents),
    ...keys.filter(({ identity }) => identity !== '').map(postgresCounters),
  ];
  const obstacles: string[] = [];
  for (const sql of guards) obstacles.push(...(await query(sql)).map(({ what }) => String(what)));
  const tables = [...new Set(columns.map(({ path }) => path))];
  const old: OldKey[] = [];
  for (const each of keys) old.push(await oldKeyOf(query, each));
  const { candidates, tables: names } = await readCandidates(query);
  return {
    database: 'postgres',
    obstacles,
    guards,
    contents: tables.map((path) => {
      const ended = keys.filter((each) => each.path === path).map(({ column }) => column);
      return postgresContents(path, ended);
    }),
    keys: old,
    references: columns.slice(keys.length).map(({ table, column, type }) => ({ table, column, type })),
    loose: looseColumns(candidates, keys, names),
    steps: {
      up: [...keys.flatMap(endOf), ...toWiden.map(widen)],
      again: [],
      down: keys.flatMap(downOf),
    },
  };
}

async function readKey(query: Query, { schema, name, column }: KeyPath): Promise<Key> {
  const given = schema === undefined ? quoted(name) : `${quoted(schema)}.${quoted(name)}`;
  const [found] = await query(
    'SELECT a.attrelid::regclass::text AS path, format_type(a.atttypid, a.atttypmod) AS type, ' +
      `a.attidentity AS identity, pg_get_expr(d.adbin, d.adrelid) AS fallback, ${SEQUENCE} AS sequence, ` +
      'to_json(ARRAY(SELECT n.attname::text FROM pg_attribute n WHERE n.attrelid = a.attrelid AND n.attnum > 0))::text AS siblings, ' +
      `${IS_KEY} AS keyed FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p') ` +
      'LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum ' +
      'WHERE a.attrelid = to_regclass($1) AND a.attname = $2 AND a.attnum > 0 AND NOT a.attisdropped',
    [given, column],
  );
  if (found === undefined) throw missingColumn({ schema, name }, column);
  refuseWorkerTable(name, JSON.parse(String(found['siblings'])) as string[]);
  const { path, type, identity, fallback, sequence } = found as Record<string, string>;
  if (!INTEGER.includes(type!)) throw notAnInteger(name, column, type!);
  if (found['keyed'] !== true) throw notAKey(name, column);
  return {
    path: path!,
    table: name,
    column,
    type: type!,
    identity: identity!,
    fallback,
    sequence: sequence == null ? undefined : await readSequence(query, sequence),
  };
}

async function readSequence(query: Query, name: string): Promise<Sequence> {
  const [found] = await query(
    'SELECT c.oid::regclass::text AS path, s.data_type::text AS type, s.start_value::text AS start, s.increment_by::text AS step, ' +
      's.min_value::text AS min, s.max_value::text AS max, s.cache_size::text AS cache, s.cycle, s.last_value::text AS last, ' +
      "obj_description(c.oid, 'pg_class') AS comment, quote_ident(pg_get_userbyid(c.relowner)) AS owner, " +
      "(SELECT json_agg(json_build_object('grantee', CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x.grantee)) END, " +
      "'privilege', x.privilege_type, 'isGrantable', x.is_grantable)) FROM aclexplode(c.relacl) x)::text AS rights " +
      'FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace ' +
      'JOIN pg_sequences s ON s.schemaname = n.nspname AND s.sequencename = c.relname WHERE c.oid = to_regclass($1)',
    [name],
  );
  const { path, type, start, step, min, max, cache, last, owner } = found as Record<string, string>;
  const [comment, rights] = [found!['comment'] as string | null, found!['rights'] as string | null];
  const [by, first] = [BigInt(step!), BigInt(start!)];
  const most = 2n ** BigInt(BITS[type!]! - 1) - 1n;
  return {
    path: path!,
    start: first,
    step: by,
    cache: cache!,
    isCycling: found!['cycle'] === true,
    comment,
    owner: owner!,
    min: BigInt(min!) === (by > 0n ? 1n : -most - 1n) ? undefined : BigInt(min!),
    max: BigInt(max!) === (by > 0n ? most : -1n) ? undefined : BigInt(max!),
    next: last == null ? first : BigInt(last) + by,
    rights: rights === null ? null : (JSON.parse(rights) as Right[]),
  };
}

async function oldKeyOf(query: Query, { path, table, column, type, identity, fallback }: Key): Promise<OldKey> {
  const highestSql = `SELECT MAX(${quoted(column)})::text AS highest FROM ${path}`;
  const [top] = await query(highestSql);
  const isGenerated = identity !== '' || fallback != null;
  return { table, column, type, isGenerated, highestSql, highest: numberIn(top) };
}

function isAmong(columns: readonly Column[], { path, column }: Pick<Column, 'path' | 'column'>): boolean {
  return columns.some((each) => each.path === path && each.column === column);
}

/** Reads the columns to which a column refers. */
async function referredBy(query: Query, { path, column }: Column): Promise<Pick<Column, 'path' | 'column'>[]> {
  const records = await query(
    'SELECT k.confrelid::regclass::text AS path, p.attname AS parent ' +
      'FROM pg_constraint k CROSS JOIN LATERAL unnest(k.conkey, k.confkey) AS u(child, parent) ' +
      'JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.child ' +
      'JOIN pg_attribute p ON p.attrelid = k.confrelid AND p.attnum = u.parent ' +
      "WHERE k.contype = 'f' AND k.conparentid = 0 AND k.conrelid = to_regclass($1) AND a.attname = $2",
    [path, column],
  );
  return records.map((each) => ({ path: String(each['path']), column: String(each['parent']) }));
}

/** Reads the columns of all tables except the server's own. */
async function readCandidates(query: Query): Promise<{ candidates: Candidate[]; tables: string[] }> {
  const records = await query(
    'SELECT c.relname AS name, a.attname AS col, format_type(a.atttypid, a.atttypmod) AS type, EXISTS (SELECT FROM ' +
      "pg_constraint k WHERE k.contype = 'f' AND k.conrelid = c.oid AND a.attnum = ANY (k.conkey)) AS linked " +
      "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p') AND NOT c.relispartition " +
      'JOIN pg_namespace n ON n.oid = c.relnamespace WHERE a.attnum > 0 AND NOT a.attisdropped ' +
      "AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' ORDER BY n.nspname, c.relname, a.attnum",
  );
  const candidates = records.map(({ name, col, type, linked }) => ({
    table: String(name),
    column: String(col),
    type: String(type),
    isLinked: linked === true,
  }));
  return { candidates, tables: [...new Set(candidates.map(({ table }) => table))] };
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
    path: String(each['path']),
    table: String(each['name']),
    column: String(each['child']),
    type: String(each['type']),
  }));
}

function widen({ path, column }: Column): MigrationStep {
  return { sql: `ALTER TABLE ${path} ALTER COLUMN ${quoted(column)} TYPE bigint` };
}

/** The steps after which the database makes no more keys. */
function endOf({ identity, fallback, ...key }: Key): MigrationStep[] {
  return [
    ...(identity !== '' ? [{ sql: `${alterOf(key)} DROP IDENTITY` }] : []),
    ...(fallback != null ? [{ sql: `${alterOf(key)} DROP DEFAULT` }] : []),
  ];
}

function alterOf({ path, column }: Pick<Column, 'path' | 'column'>): string {
  return `ALTER TABLE ${path} ALTER COLUMN ${quoted(column)}`;
}

function downOf(key: Key): MigrationStep[] {
  const { identity, fallback, sequence } = key;
  const alter = alterOf(key);
  if (identity !== '') {
    const always = identity === 'a' ? 'ALWAYS' : 'BY DEFAULT';
    const made = `${alter} ADD GENERATED ${always} AS IDENTITY (${optionsOf(sequence!)})`;
    return [made, ...rightsOf(sequence!), continued(key, sequence!, String(sequence!.next))].map((sql) => ({ sql }));
  }
  if (fallback == null) return [];
  const back = `${alter} SET DEFAULT ${fallback}`;
  if (sequence === undefined) return [{ sql: back }];
  // The sequence has stayed, and may have counted since. Bounds of its own stay with the new type, those of the type go.
  const { path, step } = sequence;
  const next = `(SELECT last_value + CASE WHEN is_called THEN ${step} ELSE 0 END FROM ${path})`;
  return [`ALTER SEQUENCE ${path} AS bigint`, continued(key, sequence, next), back].map((sql) => ({ sql }));
}

/** What stands in the parentheses of an identity, as pg_dump writes it. */
function optionsOf({ path, start, step, min, max, cache, isCycling }: Sequence): string {
  const bounds = [
    min === undefined ? 'NO MINVALUE' : `MINVALUE ${min}`,
    max === undefined ? 'NO MAXVALUE' : `MAXVALUE ${max}`,
  ];
  const cycle = isCycling ? ' CYCLE' : '';
  return `SEQUENCE NAME ${path} START WITH ${start} INCREMENT BY ${step} ${bounds.join(' ')} CACHE ${cache}${cycle}`;
}

/** Statements for the comment and the grants of a sequence that was created again. */
function rightsOf({ path, comment, owner, rights }: Sequence): string[] {
  const said = comment === null ? [] : [`COMMENT ON SEQUENCE ${path} IS ${literal(comment)}`];
  if (rights === null) return said;
  const kept = rights.filter(({ grantee }) => grantee === owner).map(({ privilege }) => privilege);
  const revoked = ['SELECT', 'UPDATE', 'USAGE'].filter((each) => !kept.includes(each));
  return [
    ...said,
    ...(revoked.length === 0 ? [] : [`REVOKE ${revoked.join(', ')} ON SEQUENCE ${path} FROM ${owner}`]),
    ...rights
      .filter(({ grantee }) => grantee !== owner)
      .map(
        ({ grantee, privilege, isGrantable }) =>
          `GRANT ${privilege} ON SEQUENCE ${path} TO ${grantee}${isGrantable ? ' WITH GRANT OPTION' : ''}`,
      ),
  ];
}

/**
 * The statement after which a sequence continues past the keys in its bounds, by its own steps: with 1000, 1007 and an ID
 * of Raindrop in the table, and MAXVALUE 100000, the next key is 1014. A sequence that starts again continues where it was.
 */
function continued(
  { path: table, column }: Column,
  { path, step, min, max, isCycling }: Sequence,
  next: string,
): string {
  const isUp = step > 0n;
  const [lowest, highest] = [min ?? (isUp ? 1n : -LARGEST - 1n), max ?? (isUp ? LARGEST : -1n)];
  const inBounds = `FROM ${table} WHERE ${quoted(column)} BETWEEN ${lowest} AND ${highest}`;
  const last = `(SELECT ${isUp ? 'MAX' : 'MIN'}(${quoted(column)})::numeric ${inBounds})`;
  const past = `CASE WHEN k.last ${isUp ? '>=' : '<='} k.next THEN k.next + (div(k.last - k.next, ${step}) + 1) * ${step} ELSE k.next END`;
  const value = isCycling ? 'k.next' : past;
  return (
    `SELECT setval(${literal(path)}, LEAST(GREATEST(n, ${lowest}), ${highest})::bigint, n NOT BETWEEN ${lowest} AND ${highest}) ` +
    `FROM (SELECT ${value} AS n FROM (SELECT ${next}::numeric AS next, ${last} AS last) k) v`
  );
}
