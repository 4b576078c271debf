import { ConfigurationError, UnsafeSnowflakeError } from '@raindrop/core';
import { PermanentError } from '@raindrop/core/internal';
import {
  describeDefault,
  describeFiller,
  FILLER_SQL,
  foundSql,
  callOf,
  type IdFunction,
  placedFunctions,
  type PrecisionReport,
  readFiller,
} from '@raindrop/node/internal';
import { type Database, DATABASES, type DriverSettings } from './databases.js';
import type { Keys, LayoutSize } from './ids.js';

export type { PrecisionReport };

/** The options of a check of precision. */
export interface PrecisionOptions {
  /** The layout of the IDs if their service is not open in this process. @defaultValue the open service's */
  readonly layout?: LayoutSize;
}

/** The application's own connection returned a key's largest ID with other digits. */
export class RoundedIdsError extends PermanentError {
  static override readonly name = 'RoundedIdsError';
  readonly errorCode = 'ROUNDED_IDS';
  /** The message without the cure. */
  readonly problem: string;

  constructor(
    /** `table.column` or `Entity.property`. */
    readonly column: string,
    /** Where it was rounded: as the value of a column, or in JSON, as relations are loaded. */
    readonly path: 'column' | 'json',
    /** The digits of the ID that was sent. */
    readonly sent: string,
    /** The value that the driver returned. */
    readonly received: unknown,
    /** What to do: it names the setting that rounds, or the settings that may. */
    readonly cure: string,
  ) {
    const problem = `${column}: the connection returns ${shown(received)} for the ID ${sent}${path === 'json' ? ' in JSON' : ''}`;
    super(`${problem}. ${cure}.`);
    this.problem = problem;
  }
}

/** Writes a value as a message shows it. */
export function shown(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
  return `${text.slice(0, 48)} (a ${typeof value})`;
}

/** Keys with the same largest ID, in columns of one kind. */
export interface Sample<Key> {
  readonly id: bigint;
  readonly isText: boolean;
  readonly keys: readonly Key[];
}

/** A column whose IDs are checked. */
export interface SampledKey {
  /** The source of its IDs. */
  readonly source: Keys;
  /** Whether the database keeps them as a text. */
  readonly isText: boolean;
}

/**
 * Sorts keys into the samples that have to be sent for them.
 * @throws NoOpenServiceError when a key's service is not open, and the options name no layout
 */
export function samplesOf<Key extends SampledKey>(given: readonly Key[], { layout }: PrecisionOptions): Sample<Key>[] {
  const samples = new Map<string, Sample<Key> & { readonly keys: Key[] }>();
  for (const each of given) {
    const { isText } = each;
    const id = each.source.largest(layout);
    const sample = samples.get(`${id} ${isText}`);
    if (sample === undefined) samples.set(`${id} ${isText}`, { id, isText, keys: [each] });
    else sample.keys.push(each);
  }
  return [...samples.values()];
}

/** Writes a sample in SQL. Every database treats a number of this size as a `bigint`. */
export function literalOf({ id, isText }: Pick<Sample<unknown>, 'id' | 'isText'>): string {
  return isText ? `'${id}'` : String(id);
}

/** A key as messages and the report name it: `Entity.property`. */
export interface NamedKey extends SampledKey {
  readonly place: string;
}

/**
 * Sends the samples of these keys in one SELECT, and compares what each key reads.
 * @param select returns the row of the SELECT, through the application's own connection
 * @param cure says what to do about a column that is rounded
 * @throws RoundedIdsError; NoOpenServiceError when a key's service is not open, and the options name no layout
 */
export async function checkSamples(
  keys: readonly NamedKey[],
  options: PrecisionOptions,
  select: (sql: string) => Promise<Readonly<Record<string, unknown>>>,
  cure: () => string,
): Promise<PrecisionReport> {
  const samples = samplesOf(keys, options);
  const columns = samples.map((sample, index) => `${literalOf(sample)} as sample${index}`);
  const row = await select(`select ${columns.join(', ')}`);
  for (const [index, { id, keys: its }] of samples.entries()) {
    const value = row[`sample${index}`];
    for (const { source, place } of its) {
      if (!isRead(source, id, () => source.form.read(value, source.place)))
        throw new RoundedIdsError(place, 'column', String(id), value, cure());
    }
  }
  return { exact: keys.map(({ place }) => place), warnings: [] };
}

/** Whether a key reads this ID, in its form. It refuses what has lost digits. */
export function isRead({ form }: Keys, id: bigint, read: () => unknown): boolean {
  try {
    return read() === form.of(id);
  } catch (error) {
    if (error instanceof UnsafeSnowflakeError) return false;
    throw error;
  }
}

/** Returns the first element of an array in JSON, which the driver has parsed or not. */
export function firstOf(json: unknown): unknown {
  const parsed = typeof json === 'string' ? (JSON.parse(json) as unknown) : json;
  return Array.isArray(parsed) ? (parsed[0] as unknown) : parsed;
}

/** Returns the settings of a pool or a connection of mysql2 or pg; undefined for anything else. */
export function settingsOf(client: unknown): DriverSettings | undefined {
  const { pool, connection, config, options } = (client ?? {}) as Record<string, { config?: object } | undefined>;
  const inner = (pool?.config ?? connection?.config ?? config) as { connectionConfig?: object } | undefined;
  return inner?.connectionConfig ?? inner ?? options;
}

/** A column, and its table's schema if it has another one than the connection. */
export interface ColumnName {
  readonly schema: string | undefined;
  readonly table: string;
  readonly column: string;
}

/**
 * Returns whether the database keeps a column as a `bigint`; undefined if it has no such column.
 * @param valueOf sends `select` with this expression, and returns the value
 */
export async function isBigint(
  name: ColumnName,
  database: Database,
  valueOf: (expression: string) => Promise<unknown>,
): Promise<boolean | undefined> {
  const found = await valueOf(aboutColumn(DATABASES[database].isBigint, name, database));
  return found === null || found === undefined ? undefined : Number(found) === 1;
}

/**
 * SQLite would store the text in a column of integers, and a MariaDB without strict mode the key 0. `raindrop doctor` shows
 * `problem` and `cure`, as those of {@link RoundedIdsError}.
 */
export function typedInBigint(
  place: string,
  prefix: string,
): ConfigurationError & { readonly problem: string; readonly cure: string } {
  const problem = `writes texts such as ${prefix}_0Cc4kqJ3WmY, but the column is a bigint`;
  const cure = 'Make the column a text, or leave `prefix` out';
  const error = new ConfigurationError([
    { option: `${place}: prefix`, given: `'${prefix}'`, message: `${problem}. ${cure}` },
  ]);
  return Object.assign(error, { problem: `${place}: prefix '${prefix}' ${problem}`, cure });
}

/** Writes a subquery of what an expression says about a column in the database's catalogue: null if there is no column. */
function aboutColumn(expression: string, { schema, table, column }: ColumnName, database: Database): string {
  return `(select ${expression} ${DATABASES[database].catalogue(quoted(table), quoted(column), schema && quoted(schema))} limit 1)`;
}

function quoted(name: string): string {
  return `'${name.replaceAll("'", "''")}'`;
}

/** A key, and the column in which the database keeps it. */
export interface PlacedKey extends ColumnName {
  readonly place: string;
  /** The function that is to fill rows which no application inserts. */
  readonly databaseDefault: IdFunction | undefined;
}

/** So many keys in one SELECT. */
const ASKED_AT_ONCE = 100;

/**
 * Asks the database whether it fills these keys itself: an insert that bypasses the ORM would get a key of the database, and
 * no error. Keys with `databaseDefault` are to be filled, by that function.
 * @param valuesOf sends `select` with these expressions, and returns the values
 * @returns a warning for each such key, with the statement that ends it
 */
export async function fillerWarnings(
  keys: readonly PlacedKey[],
  database: Database,
  valuesOf: (expressions: readonly string[]) => Promise<readonly unknown[]>,
): Promise<string[]> {
  const answers: unknown[] = [];
  const placed = placedFunctions(keys.map(({ databaseDefault }) => databaseDefault));
  const found = new Set<string>();
  try {
    if (placed.size > 0) {
      const values = await valuesOf([...placed.values()].map(foundSql));
      for (const [at, call] of [...placed.keys()].entries()) if (Number(values[at]) === 1) found.add(call);
    }
    for (let at = 0; at < keys.length; at += ASKED_AT_ONCE) {
      const some = keys.slice(at, at + ASKED_AT_ONCE);
      answers.push(...(await valuesOf(some.map((key) => aboutColumn(fillerSql(key, database), key, database)))));
    }
  } catch (error) {
    return [`Could not check whether the database fills the keys: ${String(error)}`];
  }
  return keys.flatMap((key, index) => {
    const answer = answers[index];
    const filler = isNothing(answer) ? undefined : readFiller(answer);
    const { dialect } = DATABASES[database];
    const { databaseDefault: wanted } = key;
    if (answer === null || answer === undefined) return [];
    const fault = wanted
      ? describeDefault(wanted, filler, key, dialect, found.has(callOf(wanted)))
      : filler && describeFiller(filler, key, dialect);
    return fault === undefined ? [] : [`${key.place}: ${fault.problem}. ${fault.cure}`];
  });
}

/** In place of what fills a column, where the column is there and nothing does. */
const NOTHING = '-';

function isNothing(answer: unknown): boolean {
  return String(answer) === NOTHING;
}

function fillerSql({ databaseDefault }: PlacedKey, database: Database): string {
  return databaseDefault === undefined ? FILLER_SQL[database] : `coalesce(${FILLER_SQL[database]}, '${NOTHING}')`;
}

/** Writes a SELECT of expressions. Read its values in their order: plugins may rename columns. */
export function selectOf(expressions: readonly string[]): string {
  return `select ${expressions.map((each, index) => `${each} as filler${index}`).join(', ')}`;
}
