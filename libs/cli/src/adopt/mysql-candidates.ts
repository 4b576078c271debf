import type { Candidate } from './loose-columns.js';
import type { PlacedTable } from './mysql-names.js';
import type { Query } from './old-key.js';

/** Every column of the databases in which the keys stand, and the names of all tables there. */
export async function readCandidates(
  query: Query,
  keys: readonly PlacedTable[],
): Promise<{ candidates: Candidate[]; tables: string[] }> {
  const schemas = [...new Set(keys.map(({ schema }) => schema))];
  const records = await query(
    'SELECT c.TABLE_NAME AS name, c.COLUMN_NAME AS col, c.COLUMN_TYPE AS type, EXISTS (SELECT 1 FROM ' +
      'information_schema.KEY_COLUMN_USAGE k WHERE k.TABLE_SCHEMA = c.TABLE_SCHEMA AND k.TABLE_NAME = c.TABLE_NAME AND ' +
      'k.COLUMN_NAME = c.COLUMN_NAME AND k.REFERENCED_TABLE_NAME IS NOT NULL) AS linked ' +
      'FROM information_schema.COLUMNS c JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA ' +
      "AND t.TABLE_NAME = c.TABLE_NAME AND t.TABLE_TYPE <> 'VIEW' " +
      `WHERE c.TABLE_SCHEMA IN (${schemas.map(() => '?').join(', ')}) ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`,
    schemas,
  );
  const candidates = records.map(({ name, col, type, linked }) => ({
    ...{ table: String(name), column: String(col), type: String(type).toLowerCase(), isLinked: Number(linked) === 1 },
  }));
  return { candidates, tables: [...new Set(candidates.map(({ table }) => table))] };
}
