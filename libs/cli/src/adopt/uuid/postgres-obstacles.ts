import { CommandFailedError } from '../../input-error.js';
import type { Query } from '../old-key.js';
import { postgresDependents } from '../postgres-dependents.js';
import { inTheWay, nameIsTaken } from './uuid-refusals.js';
import { ownName } from './uuid-key.js';
import type { PostgresColumn } from './postgres-uuid-facts.js';

/** Everything that would go on with the old column, or be lost with it, a name each. */
const READERS =
  // Views and rules.
  "SELECT 'the view ' || r.ev_class::regclass::text AS what FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid " +
  "WHERE d.classid = 'pg_rewrite'::regclass AND d.refobjid = $1::regclass AND d.refobjsubid = $2::int " +
  // Triggers may read any column, and would run for every row that is numbered.
  "UNION SELECT 'the trigger ' || g.tgname FROM pg_trigger g WHERE g.tgrelid = $1::regclass AND NOT g.tgisinternal " +
  "AND g.tgname NOT LIKE 'raindrop\\_%' " +
  // They would stay with the old column.
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
  // Its column is not named plainly, or is sorted as only texts are.
  "UNION SELECT 'the index ' || i.indexrelid::regclass::text FROM pg_depend d JOIN pg_index i ON i.indexrelid = d.objid WHERE " +
  "d.classid = 'pg_class'::regclass AND d.refobjid = $1::regclass AND d.refobjsubid = $2::int AND (i.indpred IS NOT NULL OR " +
  "i.indexprs IS NOT NULL OR pg_get_indexdef(i.indexrelid) ~ ' COLLATE |_ops')";

/**
 * @throws CommandFailedError for what would go on with the old column, be lost with it, or has the names that are needed
 */
export async function refusePostgres(
  query: Query,
  key: PostgresColumn,
  columns: readonly PostgresColumn[],
): Promise<void> {
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
