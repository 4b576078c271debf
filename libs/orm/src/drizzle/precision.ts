/** Precision: the largest ID, sent through the application's own connection and read as columns and relations are. */

import { type Column, getTableColumns, getTableName, is, sql, Table } from 'drizzle-orm';
import { ConfigurationError } from '@raindrop/core';
import type { PrecisionReport } from '@raindrop/node/internal';
import { type Database, DATABASES } from '../databases.js';
import type { Keys } from '../ids.js';
import {
  fillerWarnings,
  firstOf,
  literalOf,
  type PlacedKey,
  type PrecisionOptions,
  isRead,
  RoundedIdsError,
  type Sample,
  type SampledKey,
  samplesOf,
  settingsOf,
  shown,
} from '../precision.js';
import { COLUMNS } from './column.js';
import { databaseOf, type Dialect, inRelation, nameOf, tablesOf } from './releases.js';

/** A database of Drizzle. Drizzle's own types differ between its ES and CommonJS builds, so they are not named here. */
export interface DrizzleDatabase {
  readonly _: object;
  /** Begins a query. */
  select(...fields: never[]): unknown;
}

/** The options of {@link checkPrecision}. */
export interface DrizzlePrecisionOptions extends PrecisionOptions {
  /** The tables, such as all exports of the schema's module. @defaultValue those that `drizzle()` was given */
  readonly schema?: Readonly<Record<string, unknown>>;
}

/**
 * Sends the largest ID of the keys of these tables through the database's own connection, in one SELECT, and compares the
 * result: as a column, and as JSON if `with` can load the table. Await it at the start.
 * @returns the exact keys, and a warning for each key that the database still fills. With Drizzle 0.45 on MariaDB and MySQL
 * there is one for each relation by `with` too, which throws when it is read
 * @throws RoundedIdsError if digits are lost, with the setting; NoOpenServiceError if the keys' service is not open;
 * ConfigurationError if no table has a `snowflake()`; Drizzle's error if the database does not answer
 */
export async function checkPrecision(
  db: DrizzleDatabase,
  options: DrizzlePrecisionOptions = {},
): Promise<PrecisionReport> {
  const { all, related } = tablesOf(db);
  const keys = keysIn({ ...all, ...options.schema }, related);
  const samples = samplesOf(keys, options);
  const database = databaseOf(db);
  const raw = { mapFromDriverValue: (value: unknown): unknown => value };
  const fields: Record<string, unknown> = {};
  for (const [index, sample] of samples.entries()) {
    const literal = literalOf(sample);
    fields[`column${index}`] = sql.raw(literal).mapWith(raw);
    const loaded = sample.keys.find((key) => key.isRelated);
    if (loaded === undefined) continue;
    const value = inRelation(loaded.column, sql.raw(literal), sql);
    fields[`json${index}`] = sql`${sql.raw(DATABASES[database].jsonArray)}(${value})`.mapWith(raw);
  }
  const select = db.select.bind(db) as unknown as (fields: object) => {
    from(source: unknown): PromiseLike<readonly Record<string, unknown>[]>;
  };
  const rowOf = async (some: object): Promise<Record<string, unknown>> =>
    (await select(some).from(sql.raw('(select 1 as one) as one_row')))[0]!;
  const row = await rowOf(fields);
  const exact: string[] = [];
  const warnings: string[] = [];
  for (const [index, sample] of samples.entries()) {
    for (const key of sample.keys) {
      demandExact(key, sample, row[`column${index}`], database, db);
      exact.push(key.keys.place);
      if (!key.isRelated) continue;
      const warning = judgeJson(key, sample, row[`json${index}`], database);
      (warning === undefined ? exact : warnings).push(warning ?? `${key.keys.place} in JSON`);
    }
  }
  const placed = keys.flatMap((key) => (key.isGenerated ? placedKey(key, db) : []));
  const valuesOf = async (expressions: readonly string[]): Promise<unknown[]> => {
    const entries = expressions.map((each, index) => [`filler${index}`, sql.raw(each).mapWith(raw)] as const);
    const answer = await rowOf(Object.fromEntries(entries));
    return entries.map(([name]) => answer[name]);
  };
  warnings.push(...(await fillerWarnings(placed, database, valuesOf)));
  return { exact, warnings };
}

function placedKey({ keys, column }: SampledColumn, db: object): PlacedKey {
  const { table } = column;
  const { dialect } = db as { readonly dialect?: Dialect };
  const schema = (table as { readonly [SCHEMA]?: string })[SCHEMA];
  const name = nameOf(column, dialect);
  const { place, databaseDefault } = keys;
  return { place, databaseDefault, schema, table: getTableName(table), column: name };
}

/** Drizzle shows the schema of a table by this symbol only. */
const SCHEMA = Symbol.for('drizzle:Schema');

interface SampledColumn extends SampledKey {
  readonly keys: Keys;
  readonly column: Column;
  /** Whether it gets IDs. References hold those of others. */
  readonly isGenerated: boolean;
  /** Whether `with` can load its table, as JSON. */
  readonly isRelated: boolean;
}

/** @throws ConfigurationError when no column is generated */
function keysIn(schema: object, related: readonly Table[]): SampledColumn[] {
  const tables = new Set((Object.values(schema) as unknown[]).filter((each): each is Table => is(each, Table)));
  const found = [...tables].flatMap((table) =>
    Object.values(getTableColumns(table)).flatMap((column) => {
      const ours = COLUMNS.get(column);
      const isText = column.getSQLType() === 'text';
      return ours === undefined ? [] : [{ ...ours, column, isText, isRelated: related.includes(table) }];
    }),
  );
  const generated = found.filter(({ isGenerated }) => isGenerated);
  if (generated.length === 0) {
    const message = 'names no table with a snowflake(): drizzle(client, { schema }), or checkPrecision(db, { schema })';
    throw new ConfigurationError([{ option: 'schema', given: `${tables.size} tables`, message }]);
  }
  return found.flatMap((each) => {
    // A reference holds the IDs of the key to which it refers, in the same form.
    const source = each.isGenerated ? each : generated.find(({ keys }) => keys.as === each.keys.as);
    return source === undefined ? [] : [{ ...each, source: source.keys }];
  });
}

/** @throws RoundedIdsError */
function demandExact(
  key: SampledColumn,
  { id }: Sample<SampledColumn>,
  value: unknown,
  database: Database,
  db: object,
): void {
  if (isReadBy(key, id, value)) return;
  // Drizzle reads by type parsers of its own: those of a pool are not asked.
  const settings = settingsOf((db as { $client?: unknown }).$client);
  const cure = DATABASES[database].cureOf(settings && { supportBigNumbers: settings.supportBigNumbers });
  throw new RoundedIdsError(key.keys.place, 'column', String(id), value, cure);
}

/**
 * @returns the warning where no setting helps; undefined when it is exact
 * @throws RoundedIdsError where a setting helps
 */
function judgeJson(
  key: SampledColumn,
  { id }: Sample<SampledColumn>,
  json: unknown,
  database: Database,
): string | undefined {
  const value = firstOf(json);
  if (isReadBy(key, id, value)) return undefined;
  const { place } = key.keys;
  const cure = JSON_CURES[database];
  if (cure !== undefined) throw new RoundedIdsError(place, 'json', String(id), value, cure);
  return (
    `${place}: \`with\` is refused, because JSON returns ${shown(value)} for the ID ${id}. Join, or load the ID as a text: ` +
    'docs/drizzle.md'
  );
}

/** The setting with which relations by `with` keep their digits, where there is one. */
const JSON_CURES: Readonly<Record<Database, string | undefined>> = {
  postgres:
    'Let pg keep the digits of JSON: pg.types.setTypeParser(pg.types.builtins.JSON, exactJson), with exactJson of ' +
    '@raindrop/orm/drizzle',
  mysql: undefined,
  sqlite: undefined,
};

function isReadBy({ keys, column }: SampledColumn, id: bigint, value: unknown): boolean {
  return isRead(keys, id, () => column.mapFromDriverValue(value));
}

/**
 * Parses JSON as `JSON.parse` does, but integers that a number cannot hold become texts. Drizzle's `with` is exact on
 * PostgreSQL with it: `pg.types.setTypeParser(pg.types.builtins.JSON, exactJson)`, once in a process.
 */
export function exactJson(json: string): unknown {
  if (!/\d{16}/.test(json)) return JSON.parse(json);
  return JSON.parse(
    json.replace(STRING_OR_NUMBER, (token) => {
      const isRounded = INTEGER.test(token) && !Number.isSafeInteger(Number(token));
      return isRounded ? `"${token}"` : token;
    }),
  );
}

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const INTEGER = /^-?\d+$/;
