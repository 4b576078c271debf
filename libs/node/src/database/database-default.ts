import type { OptionReader } from '@raindrop/core/internal';
import type { Dialect, Family } from './dialect.js';
import { isTableName, parseTableName, TABLE_NAME_RULE } from './table-name.js';

/** A function of the database that issues IDs. It takes no arguments. */
export interface IdFunction {
  /** Undefined: the database looks for the function in its search path. */
  readonly schema: string | undefined;
  readonly name: string;
}

/** The function that `raindrop sql --issue` makes. */
const RAINDROP_ID: IdFunction = { schema: undefined, name: 'raindrop_id' };

/** Reads the option `databaseDefault`: undefined where it is not given, or false. */
export function readDatabaseDefault(reader: OptionReader, name: string): IdFunction | undefined {
  const given = reader.value(name);
  if (given === undefined || given === false) return undefined;
  if (given === true) return RAINDROP_ID;
  if (typeof given === 'string' && isTableName(given)) return parseTableName(given);
  const rule = TABLE_NAME_RULE.replaceAll('table', 'function');
  reader.problem(name, given, `must be true, false, or the name of the function without (): ${rule}`);
  return undefined;
}

/**
 * Writes the call in SQL, for a DEFAULT, as PostgreSQL itself writes it: `shop.next_id()`, `"Shop"."nextId"()`. Tools that
 * compare a default with what the database reports then find no difference.
 */
export function callOf({ schema, name }: IdFunction): string {
  return `${[schema, name].flatMap((part) => (part === undefined ? [] : quoted(part))).join('.')}()`;
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !KEYWORDS.has(name) ? name : `"${name}"`;
}

/** The words of PostgreSQL 14 to 18 that are no names without quotes everywhere. */
const KEYWORDS = new Set(
  (
    'all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both ' +
    'case cast char character check coalesce collate collation column concurrently constraint create cross ' +
    'current_catalog current_date current_role current_schema current_time current_timestamp current_user dec ' +
    'decimal default deferrable desc distinct do else end except exists extract false fetch float for foreign ' +
    'freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect ' +
    'interval into is isnull join json json_array json_arrayagg json_exists json_object json_objectagg json_query ' +
    'json_scalar json_serialize json_table json_value lateral leading least left like limit localtime ' +
    'localtimestamp merge_action national natural nchar none normalize not notnull null nullif numeric offset on ' +
    'only or order out outer overlaps overlay placing position precision primary real references returning right ' +
    'row select session_user setof similar smallint some substring symmetric system_user table tablesample then ' +
    'time timestamp to trailing treat trim true union unique user using values varchar variadic verbose when ' +
    'where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi ' +
    'xmlroot xmlserialize xmltable'
  ).split(' '),
);

const HAVE: Readonly<Record<Family, boolean>> = { postgres: true, mysql: false, sqlite: false };

/** Whether Raindrop has such a function for a database. */
export function hasIdFunction({ family }: Dialect): boolean {
  return HAVE[family];
}

/**
 * Whether a default, as PostgreSQL reports it, is a call of this function. PostgreSQL leaves out the schema of a function
 * that its search path finds: `shop.next_id()` is `next_id()` where the path is `public, shop` and `public` has no such
 * function.
 * @param isFound whether the search path of the connection finds the function by its name alone, as {@link foundSql} tells
 */
export function isCallOf({ schema, name }: IdFunction, reported: string, isFound: boolean): boolean {
  const called = calledBy(reported);
  if (called?.name !== name) return false;
  if (called.schema !== undefined) return called.schema === schema;
  return schema === undefined || isFound;
}

/**
 * SQL for PostgreSQL that tells whether the search path of the connection finds this function by its name alone: 1 or 0. It
 * finds the first one of the name.
 */
export function foundSql({ schema, name }: IdFunction & { readonly schema: string }): string {
  return (
    `CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace ` +
    `WHERE n.nspname = '${schema}' AND p.proname = '${name}' AND p.pronargs = 0 ` +
    `AND pg_catalog.pg_function_is_visible(p.oid)) THEN 1 ELSE 0 END`
  );
}

/** The functions that are declared with their schema, each once, by their calls. */
export function placedFunctions(
  declared: readonly (IdFunction | undefined)[],
): Map<string, IdFunction & { readonly schema: string }> {
  const placed = new Map<string, IdFunction & { readonly schema: string }>();
  for (const each of declared) {
    if (each?.schema !== undefined) placed.set(callOf(each), { schema: each.schema, name: each.name });
  }
  return placed;
}

/** Whether a default may be a call of Raindrop's own function. */
export function looksIssued(reported: string): boolean {
  return calledBy(reported)?.name === RAINDROP_ID.name;
}

/** Returns the function that a default calls, without arguments; undefined for every other expression. */
export function calledBy(reported: string): IdFunction | undefined {
  const [, schema, name] = CALL.exec(reported) ?? [];
  return name === undefined ? undefined : { schema: schema && nameIn(schema), name: nameIn(name) };
}

const CALL = /^(?:("[^"]+"|[^".()]+)\.)?("[^"]+"|[^".()]+)\(\)$/;

function nameIn(spelled: string): string {
  return spelled.startsWith('"') ? spelled.slice(1, -1) : spelled.toLowerCase();
}
