import type { DataSource } from 'typeorm';
import type { Layout } from '@raindrop/core';
import { largestIdOf } from '@raindrop/core/internal';
import {
  callOf,
  type ColumnFiller,
  describeDefault,
  describeFiller,
  dialectOf,
  type Family,
  type FilledColumn,
  FILLER_SQL,
  hasDigitsOf,
  isSupportedDatabase,
  readFiller,
} from '@raindrop/node/internal';
import { databaseDefaultOf, foundFunctions } from './database-defaults.js';
import { type EntityLint, type EntityProblem, report, roundedProblem } from './entity-lint.js';
import {
  findColumns,
  type FoundColumns,
  type GeneratedColumn,
  type ReferenceColumn,
  type SnowflakeSource,
} from './generated-column.js';
import { makeSqliteExact } from './safe-sqlite-integers.js';

/** Runs a statement over the application's own connection. */
export type AppQuery = (sql: string, parameters: unknown[]) => Promise<unknown>;

export type Columns = FoundColumns['generated'][number] | FoundColumns['references'][number];

/** A column as the database has it, with one ID as the application's connection delivers it. */
interface RealRow {
  readonly id: unknown;
  /** Null where the table is not there yet. */
  readonly place: unknown;
  readonly column: unknown;
  readonly type: unknown;
  readonly filler: unknown;
}

/** A column as the database has it. */
export interface RealColumn {
  /** As the database's catalogue spells it: `bigint(20) unsigned`. */
  readonly type: string;
  readonly filler: ColumnFiller | undefined;
}

interface Look {
  readonly sql: string;
  readonly parameters: unknown[];
  /** The `place` of a column's table in the answer. */
  placeOf(column: Columns): string;
  /** The schema that statements name. */
  schemaOf(column: Columns): string | undefined;
  /** The statement of a migration that makes the column fit. */
  migrationOf(column: Columns): string;
  /** Advice: the settings of the driver that may change IDs between database and application. */
  readonly suspect: string;
}

/**
 * Compares what entities say with what is: in one query over the DataSource's own connection, the largest ID of the
 * layout has to come back digit for digit (a `typeCast` of mysql2, a type parser of pg rounds it), and the columns that
 * hold IDs have to be wide enough in the database, which should fill no key itself. A table that is not there yet is made
 * later, and is no problem. It may be called before a service is attached; then the first insert does not repeat it.
 * @returns whether it could look
 * @throws EntityLintError
 */
export async function lookAtColumns(
  dataSource: DataSource,
  service: Pick<SnowflakeSource, 'name' | 'layout'>,
  lint: EntityLint,
  query: AppQuery = (sql, parameters) => dataSource.query(sql, parameters),
): Promise<boolean> {
  if (lint.mode === 'off') return false;
  const isAnswered = await askAndReport(dataSource, service, lint, query);
  const looked = LOOKED.get(dataSource.entityMetadatas) ?? new Set();
  LOOKED.set(dataSource.entityMetadatas, looked.add(lookOf(service)));
  return isAnswered;
}

/** The looks that refused nothing. A DataSource that is initialized anew has new metadata. */
const LOOKED = new WeakMap<DataSource['entityMetadatas'], Set<string>>();

/** Whether {@link lookAtColumns} has let the columns of this service pass. */
export function wasLookedAt(
  { entityMetadatas }: DataSource,
  service: Pick<SnowflakeSource, 'name' | 'layout'>,
): boolean {
  return LOOKED.get(entityMetadatas)?.has(lookOf(service)) === true;
}

function lookOf({ name, layout }: Pick<SnowflakeSource, 'name' | 'layout'>): string {
  return `${largestIdOf(layout)} ${name}`;
}

async function askAndReport(
  dataSource: DataSource,
  service: Pick<SnowflakeSource, 'name' | 'layout'>,
  lint: EntityLint,
  query: AppQuery,
): Promise<boolean> {
  const { generated, references } = findColumns(dataSource, service);
  const columns = [...generated, ...references];
  const exact = generated.find(({ mark }) => mark.as !== 'number');
  const sample = exact === undefined ? BigInt(Number.MAX_SAFE_INTEGER) : largestIdOf(service.layout);
  const look = columns.length === 0 ? undefined : lookFor(dataSource, columns, sample);
  if (look === undefined) return false;
  if (generated.length > 0) makeSqliteExact(dataSource);
  let rows: readonly RealRow[];
  let found: ReadonlySet<string>;
  try {
    rows = (await query(look.sql, look.parameters)) as readonly RealRow[];
    found = await foundFunctions(
      generated.map(({ column }) => databaseDefaultOf(column)),
      query,
    );
  } catch (error) {
    lint.warn(`Could not check the columns of @GeneratedSnowflake() in the database: ${String(error)}`);
    return false;
  }
  const real = realColumns(rows, look);
  const problems = [
    ...sampleProblems(rows, sample, exact ?? generated[0], look, dataSource),
    ...typeProblems(real, columns, service.layout, look, dataSource),
    ...fillerProblems(real, generated, look, dataSource, found),
  ];
  report(problems, lint);
  return true;
}

function sampleProblems(
  rows: readonly RealRow[],
  sample: bigint,
  column: GeneratedColumn | undefined,
  { suspect }: Look,
  dataSource: DataSource,
): EntityProblem[] {
  const id = rows[0]?.id;
  if (column === undefined || hasDigitsOf(sample, id)) return [];
  return [problemOf(column, dataSource, 'error', roundedProblem(id, sample), `Let bigints pass unchanged: ${suspect}`)];
}

/**
 * Reads columns from the database's catalogue, before TypeORM changes them.
 * @returns undefined for a database whose catalogue is not known here; the function it returns answers undefined for a
 * column that is not there
 * @throws what the query throws
 */
export async function readRealColumns(
  dataSource: DataSource,
  columns: readonly Columns[],
): Promise<((column: Columns) => RealColumn | undefined) | undefined> {
  const look = lookFor(dataSource, columns, 0n);
  return look && realColumns(await dataSource.query<RealRow[]>(look.sql, look.parameters), look);
}

function realColumns(rows: readonly RealRow[], look: Look): (column: Columns) => RealColumn | undefined {
  const found = new Map<string, RealColumn>();
  for (const { place, column, type, filler } of rows) {
    if (typeof type !== 'string' && !Buffer.isBuffer(type)) continue;
    found.set(keyOf(place, column), { type: String(type), filler: readFiller(filler) });
  }
  return (each) => found.get(keyOf(look.placeOf(each), each.column.databaseName));
}

type RealColumns = ReturnType<typeof realColumns>;

function typeProblems(
  real: RealColumns,
  columns: readonly Columns[],
  layout: Layout | undefined,
  look: Look,
  dataSource: DataSource,
): EntityProblem[] {
  return columns.flatMap((each) => {
    const { column } = each;
    const type = real(each)?.type;
    if (type === undefined) return [];
    const fault = realType(type, dataSource.options.type, largestIdOf(layout));
    if (fault === undefined) return [];
    // Numbers from segments begin at 1, and may never outgrow a small column.
    const severity = fault.isCertain && (layout !== undefined || !fault.holdsSmall) ? 'error' : 'warning';
    const problem = `its column ${column.entityMetadata.tablePath}.${column.databaseName} is ${type} in the database, ${fault.problem}`;
    const cure = `Migrate it to bigint: ${look.migrationOf(each)}; raindrop adopt writes such migrations, foreign keys included`;
    return [problemOf(each, dataSource, severity, problem, cure)];
  });
}

function fillerProblems(
  real: RealColumns,
  generated: readonly GeneratedColumn[],
  look: Look,
  dataSource: DataSource,
  found: ReadonlySet<string>,
): EntityProblem[] {
  return generated.flatMap((each) => {
    const realColumn = real(each);
    if (realColumn === undefined) return [];
    const { databaseName: column, entityMetadata } = each.column;
    const place = { schema: look.schemaOf(each), table: entityMetadata.tableName, column };
    const fault = fillerFault(each, realColumn.filler, place, dataSource, found);
    return fault === undefined ? [] : [problemOf(each, dataSource, 'warning', fault.problem, fault.cure)];
  });
}

function fillerFault(
  { column }: GeneratedColumn,
  filler: ColumnFiller | undefined,
  place: FilledColumn,
  { options }: DataSource,
  found: ReadonlySet<string>,
): ReturnType<typeof describeDefault> {
  const dialect = dialectOf(options.type);
  const wanted = databaseDefaultOf(column);
  if (wanted === undefined) return filler && describeFiller(filler, place, dialect);
  return describeDefault(wanted, filler, place, dialect, found.has(callOf(wanted)));
}

function problemOf(
  { column }: GeneratedColumn | ReferenceColumn,
  { options }: DataSource,
  severity: EntityProblem['severity'],
  problem: string,
  cure: string,
): EntityProblem {
  const { entityMetadata, propertyPath } = column;
  const { name: entity, tablePath: table } = entityMetadata;
  return { severity, entity, table, property: propertyPath, driver: options.type, problem, cure };
}

/** The one query of a database; undefined for those whose catalogue is not known here. */
function lookFor(dataSource: DataSource, columns: readonly Columns[], sample: bigint): Look | undefined {
  const { type } = dataSource.options;
  return isSupportedDatabase(type) ? CATALOGUES[dialectOf(type).family].look(dataSource, columns, sample) : undefined;
}

/** How a database's catalogue is read, and its types are judged. */
const CATALOGUES: Readonly<
  Record<Family, { readonly look: typeof lookInMysql; readonly faultOf: typeof serverFault }>
> = {
  mysql: { look: lookInMysql, faultOf: serverFault },
  postgres: { look: lookInPostgres, faultOf: serverFault },
  sqlite: { look: lookInSqlite, faultOf: sqliteFault },
};

function lookInMysql({ driver }: DataSource, columns: readonly Columns[], sample: bigint): Look {
  const schemaOf = ({ column }: Columns): string => column.entityMetadata.database ?? driver.database ?? '';
  const placeOf = (each: Columns): string => `${schemaOf(each)}.${each.column.entityMetadata.tableName}`;
  const lists = [
    columns.map(schemaOf),
    columns.map(({ column }) => column.entityMetadata.tableName),
    columns.map(({ column }) => column.databaseName),
  ].map((names) => [...new Set(names)]);
  const [schemas, tables, names] = lists.map((list) => list.map(() => '?').join(', '));
  return {
    sql:
      `SELECT CAST('${sample}' AS SIGNED) AS id, CONCAT(c.TABLE_SCHEMA, '.', c.TABLE_NAME) AS place, ` +
      `c.COLUMN_NAME AS \`column\`, c.COLUMN_TYPE AS type, ${FILLER_SQL.mysql} AS filler FROM (SELECT 1 AS one) AS o LEFT JOIN information_schema.COLUMNS AS c ` +
      `ON c.TABLE_SCHEMA IN (${schemas}) AND c.TABLE_NAME IN (${tables}) AND c.COLUMN_NAME IN (${names})`,
    parameters: lists.flat(),
    placeOf,
    schemaOf: ({ column }) => column.entityMetadata.database,
    migrationOf: ({ column }) =>
      `ALTER TABLE ${quoted(driver, column.entityMetadata.tablePath)} MODIFY ${driver.escape(column.databaseName)} bigint ` +
      (column.isNullable ? 'NULL' : 'NOT NULL'),
    suspect: 'in extra.typeCast call next() for LONGLONG, or remove it; leave supportBigNumbers on',
  };
}

function lookInPostgres({ driver }: DataSource, columns: readonly Columns[], sample: bigint): Look {
  const placeOf = ({ column }: Columns): string => {
    const { schema, tableName } = column.entityMetadata;
    return [schema, tableName].flatMap((name) => (name ? driver.escape(name) : [])).join('.');
  };
  return {
    sql:
      `SELECT CAST('${sample}' AS bigint) AS id, CAST(t.place AS text) AS place, CAST(a.attname AS text) AS "column", ` +
      // For a domain, its base type.
      `CASE WHEN y.typbasetype = 0 THEN format_type(a.atttypid, a.atttypmod) ELSE format_type(y.typbasetype, y.typtypmod) END AS type, ` +
      `${FILLER_SQL.postgres} AS filler ` +
      `FROM unnest(CAST($1 AS text[])) AS t(place) LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = to_regclass(t.place) ` +
      `AND a.attname = ANY (CAST($2 AS text[])) AND NOT a.attisdropped LEFT JOIN pg_catalog.pg_type y ON y.oid = a.atttypid`,
    parameters: [[...new Set(columns.map(placeOf))], [...new Set(columns.map(({ column }) => column.databaseName))]],
    placeOf,
    schemaOf: ({ column }) => column.entityMetadata.schema,
    migrationOf: (each) =>
      `ALTER TABLE ${placeOf(each)} ALTER COLUMN ${driver.escape(each.column.databaseName)} TYPE bigint`,
    suspect: 'remove the int8 parser (types.setTypeParser(20, ...), parseInt8, extra.types)',
  };
}

function lookInSqlite({ driver }: DataSource, columns: readonly Columns[], sample: bigint): Look {
  const placeOf = ({ column }: Columns): string => column.entityMetadata.tableName;
  return {
    sql:
      `SELECT CAST('${sample}' AS INTEGER) AS id, t.value AS place, c.name AS "column", c.type AS type, ${FILLER_SQL.sqlite} AS filler ` +
      `FROM json_each(?) AS t LEFT JOIN pragma_table_info(t.value) AS c`,
    parameters: [JSON.stringify([...new Set(columns.map(placeOf))])],
    placeOf,
    schemaOf: () => undefined,
    migrationOf: ({ column }) =>
      `SQLite cannot change a type, so recreate the table ${driver.escape(column.entityMetadata.tableName)} ` +
      `(migration:generate does)`,
    suspect: 'remove the integer conversion of prepareDatabase or the driver',
  };
}

export function quoted(driver: DataSource['driver'], path: string): string {
  return path
    .split('.')
    .map((name) => driver.escape(name))
    .join('.');
}

/** In lower case: MySQL and SQLite ignore the case of such names, and two names that differ by case only are rare. */
function keyOf(place: unknown, column: unknown): string {
  return `${String(place)}.${String(column)}`.toLowerCase();
}

/** The effect of a column's real type on IDs. */
interface RealTypeFault {
  readonly problem: string;
  /** False where IDs come back as they were, and something else is wrong. */
  readonly isCertain: boolean;
  /** Whether small numbers fit. */
  readonly holdsSmall: boolean;
}

const INTEGER_BITS: Readonly<Record<string, number>> = { tiny: 7, small: 15, medium: 23, big: 63, '': 31 };

/**
 * Judges a type as the database's catalogue spells it: `int(10) unsigned`, `character varying(12)`, `numeric(20,0)`.
 * Unknown types are taken to be wide enough.
 * @param largest the largest ID that the column may have to hold
 */
export function realType(spelled: string, database: string, largest: bigint): RealTypeFault | undefined {
  const type = spelled.toLowerCase();
  return CATALOGUES[dialectOf(database).family].faultOf(type, largest);
}

/** SQLite has affinities instead of types. An integer has 64 bits, whatever it is called. */
function sqliteFault(type: string): RealTypeFault | undefined {
  if (/int/.test(type)) return undefined;
  if (/real|floa|doub/.test(type)) return rounds;
  return type === '' || /char|clob|text|blob/.test(type) ? text : undefined;
}

function serverFault(type: string, largest: bigint): RealTypeFault | undefined {
  return integerFault(type, largest) ?? otherFault(type, largest);
}

function integerFault(type: string, largest: bigint): RealTypeFault | undefined {
  const [, size] = /^(tiny|small|medium|big|)int(?:eger)?\b/.exec(type) ?? [];
  if (size === undefined) return undefined;
  const most = 2n ** BigInt(INTEGER_BITS[size]! + (type.includes('unsigned') ? 1 : 0)) - 1n;
  if (largest <= most) return undefined;
  const problem =
    `which holds at most ${most}: the database refuses larger IDs, or stores ${most} instead (MySQL in a lenient ` +
    `mode)`;
  return { problem, isCertain: true, holdsSmall: true };
}

function otherFault(type: string, largest: bigint): RealTypeFault | undefined {
  const digits = largest.toString().length;
  if (/^(float|double|real)/.test(type)) return rounds;
  if (/^(uuid|bytea|binary|varbinary|bit|date|time|boolean|json)/.test(type)) {
    return { problem: 'which cannot hold IDs', isCertain: true, holdsSmall: false };
  }
  const [, precision, scale = '0'] = /^(?:decimal|numeric)\((\d+)(?:,(\d+))?\)/.exec(type) ?? [];
  if (precision !== undefined && Number(precision) - Number(scale) < digits) return short(digits);
  if (!/char|text/.test(type)) return undefined;
  const [, length] = /\((\d+)\)/.exec(type) ?? (/^char(acter)?$/.test(type) ? ['', '1'] : []);
  return length !== undefined && Number(length) < digits ? short(digits) : text;
}

const rounds: RealTypeFault = { problem: 'which rounds IDs', isCertain: true, holdsSmall: true };

const text: RealTypeFault = {
  problem: 'which compares IDs as text: ranges and order are wrong',
  isCertain: false,
  holdsSmall: true,
};

function short(digits: number): RealTypeFault {
  return { problem: `too short for IDs of ${digits} digits`, isCertain: true, holdsSmall: true };
}
