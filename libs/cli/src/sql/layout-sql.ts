import { DAY_MS } from '@raindrop/core/internal';
import type { FieldRole, Layout } from '@raindrop/core';
import { type Dialect, quoteTable } from '@raindrop/node/internal';
import type { KeyPath } from '../adopt/old-key.js';
import { InputError } from '../input-error.js';

/** The kinds of databases whose SQL differs here. MariaDB runs the SQL of MySQL. */
type Family = Dialect['family'];

/** The parts of an ID that SQL reads, in the order in which they are printed. */
const PARTS = ['time', 'worker', 'sequence'] as const;

type Part = (typeof PARTS)[number];

/** The years that an epoch may lie in: MySQL's times begin in 1000, and the literals here have four digits. */
const FIRST_EPOCH_MS = Date.UTC(1000, 0, 1);
const LAST_OF_9999_MS = Date.UTC(10_000, 0, 1) - 1;

/** The last time that a database can hold, Unix ms. PostgreSQL holds every Date. */
const LATEST_MS: Readonly<Record<Family, number>> = {
  postgres: Number.POSITIVE_INFINITY,
  mysql: LAST_OF_9999_MS,
  sqlite: LAST_OF_9999_MS,
};

/** The types of a time. SQLite has none: a time is text, as `Date.toISOString()` writes it. */
const TIME_TYPES: Readonly<Record<Family, string>> = { postgres: 'timestamptz', mysql: 'DATETIME(3)', sqlite: 'TEXT' };

/**
 * Writes the functions that read the IDs of a layout: `raindrop_time(id)`, `raindrop_worker(id)` and
 * `raindrop_sequence(id)` answer as `parse()` does, and with NULL for what `parse()` refuses.
 * `raindrop_first_id(moment)` is the first ID whose time is the moment or a later one: 0 before the epoch, and above all
 * IDs after the layout's end.
 *
 * On PostgreSQL they are not STRICT: a strict function with a CASE is called for each row, where these become a part of
 * the query.
 * @throws InputError on SQLite, which has no functions in SQL, and for an epoch outside the years 1000 to 9999
 */
export function functionsSql(layout: Layout, family: Family): string[] {
  if (family === 'sqlite') {
    throw new InputError('SQLite has no functions in SQL: name a table with --table, and columns are printed');
  }
  requireEpoch(layout);
  const isUnsigned = layout.bits > 63 && family === 'mysql';
  const [integer, id] =
    family === 'postgres' ? ['bigint', 'bigint'] : ['BIGINT', isUnsigned ? 'BIGINT UNSIGNED' : 'BIGINT'];
  const moment = family === 'postgres' ? TIME_TYPES.postgres : 'DATETIME(6)';
  const written = PARTS.map((part) => ({
    ...{ name: part, given: `id ${id}`, returns: part === 'time' ? TIME_TYPES[family] : integer },
    body: partSql(layout, family, part, 'id'),
  }));
  const firstId = {
    name: 'first_id',
    given: `moment ${moment}`,
    returns: id,
    body: firstIdSql(layout, family, 'moment'),
  };
  return [...written, firstId].flatMap(({ name, given, returns, body }) => {
    const head = `FUNCTION raindrop_${name}(${given}) RETURNS ${returns}`;
    if (family === 'postgres') {
      return [`CREATE OR REPLACE ${head}\n  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ${body} $$`];
    }
    const create = `CREATE ${head}\n  DETERMINISTIC NO SQL SQL SECURITY INVOKER RETURN ${body}`;
    return [`DROP FUNCTION IF EXISTS raindrop_${name}`, create];
  });
}

/**
 * Writes generated columns `raindrop_time`, `raindrop_worker` and `raindrop_sequence` of a table. MySQL, MariaDB and SQLite
 * compute them at each read. PostgreSQL stores them: it locks the table and writes it anew.
 * @throws InputError for an epoch outside the years 1000 to 9999
 */
export function columnsSql(layout: Layout, dialect: Dialect, table: KeyPath): string[] {
  requireEpoch(layout);
  const { family } = dialect;
  const column = dialect.quote(table.column);
  const kind = family === 'postgres' ? 'STORED' : 'VIRTUAL';
  const added = PARTS.map((part) => {
    const type = part === 'time' ? TIME_TYPES[family] : 'bigint';
    return `ADD COLUMN raindrop_${part} ${type} GENERATED ALWAYS AS (${partSql(layout, family, part, column)}) ${kind}`;
  });
  // SQLite adds one column at a time; the others change the table once.
  const changes = family === 'sqlite' ? added : [added.join(',\n  ')];
  return changes.map((each) => `ALTER TABLE ${quoteTable(dialect, table)}\n  ${each}`);
}

/**
 * Writes the first ID whose time is `moment` or a later one, as an expression: 0 before the epoch; above all IDs after
 * the layout's end, or the largest ID that the column holds where nothing is above it.
 */
export function firstIdSql(layout: Layout, family: Family, moment: string): string {
  const { unitMs, timeline, lowBits } = layout;
  const last = lastTickOf(layout, family);
  const [beginMs, lastMs] = [timeline.startOf(0), timeline.startOf(last)];
  const beyond = beyondOf(layout, family);
  if (family === 'sqlite') {
    const ms = `CAST(strftime('%s', ${moment}) AS INTEGER) * 1000 + CAST(substr(strftime('%f', ${moment}), 4) AS INTEGER)`;
    const tick = `(${ms} - ${beginMs} + ${unitMs - 1}) / ${unitMs}`;
    const id = `CASE WHEN tick > ${last} THEN ${beyond} WHEN tick < 0 THEN 0 ELSE tick << ${lowBits} END`;
    return `(SELECT ${id} FROM (SELECT ${tick} AS tick))`;
  }
  const unit = unitMs * 1_000;
  const begin = literalOf(family, beginMs);
  const tick =
    family === 'postgres'
      ? `((extract(epoch FROM ${moment} - ${begin}) * 1000000)::bigint + ${unit - 1}) / ${unit}`
      : `(TIMESTAMPDIFF(MICROSECOND, ${begin}, ${moment}) + ${unit - 1}) DIV ${unit}`;
  const isReached = lastMs <= LATEST_MS[family];
  const ended = isReached ? ` WHEN ${moment} > ${literalOf(family, lastMs)} THEN ${beyond}` : '';
  return `CASE WHEN ${moment} <= ${begin} THEN 0${ended} ELSE (${tick}) << ${lowBits} END`;
}

/** Writes a part of an ID as an expression; NULL for what is no ID of the layout. */
function partSql(layout: Layout, family: Family, part: Part, id: string): string {
  const last = lastTickOf(layout, family);
  const tick = part === 'time' ? Math.min(last, layout.timeline.tickAt(LATEST_MS[family])) : last;
  const value = part === 'time' ? timeSql(layout, family, id) : numberSql(layout, part, id);
  return `CASE WHEN ${id} BETWEEN 0 AND ${lastIdOf(layout, tick)} THEN ${value} END`;
}

/** The start of an ID's tick. Every step is exact, and none depends on the time zone of the session. */
function timeSql(layout: Layout, family: Family, id: string): string {
  const { unitMs, timeline, lowBits } = layout;
  const tick = `(${id} >> ${lowBits})`;
  const beginMs = timeline.startOf(0);
  const begin = literalOf(family, beginMs);
  if (family === 'mysql') return `${begin} + INTERVAL ${tick} * ${unitMs * 1_000} MICROSECOND`;
  if (family === 'sqlite') {
    return `strftime('%Y-%m-%dT%H:%M:%fZ', (${tick} * ${unitMs} + ${beginMs}) / 1000.0, 'unixepoch')`;
  }
  // PostgreSQL computes both with doubles. Whole seconds of these years are exact, and milliseconds within a day.
  const isExact = unitMs % 1_000 === 0 && timeline.startOf(lastTickOf(layout, family)) <= LAST_OF_9999_MS;
  if (isExact) return `to_timestamp(${tick} * ${unitMs / 1_000} + ${beginMs / 1_000})`;
  const ms = `${tick} * ${unitMs}`;
  const interval = `make_interval(days => (${ms} / ${DAY_MS})::int, secs => (${ms} % ${DAY_MS}) / 1000::float8)`;
  return `(timestamp '${textOf(beginMs)}' + ${interval}) AT TIME ZONE 'UTC'`;
}

/** The number of all fields of a role: the first field is its highest bits. */
function numberSql({ fields }: Layout, role: FieldRole, id: string): string {
  const runs: { shift: number; bits: number }[] = [];
  for (const { shift, bits } of fields.filter((field) => field.role === role)) {
    const above = runs.at(-1);
    // Fields that are neighbours are read together.
    if (above?.shift === shift + bits) runs[runs.length - 1] = { shift, bits: above.bits + bits };
    else runs.push({ shift, bits });
  }
  const terms = runs.map(({ shift, bits }, index) => {
    const below = runs.slice(index + 1).reduce((sum, run) => sum + run.bits, 0);
    const value = `((${id} >> ${shift}) & ${2 ** bits - 1})`;
    return below === 0 ? value : `(${value} << ${below})`;
  });
  return terms.join(' | ') || '0';
}

/** The last tick whose IDs the database's integers hold. */
function lastTickOf({ fields, lowBits, timeline }: Layout, family: Family): number {
  const width = family === 'mysql' ? 64 : 63;
  return Math.min(2 ** Math.min(fields[0]!.bits, width - lowBits) - 1, timeline.lastTick);
}

function lastIdOf({ lowBits }: Layout, tick: number): bigint {
  return ((BigInt(tick) + 1n) << BigInt(lowBits)) - 1n;
}

/** What is above the last ID; the last ID itself where the column's type ends with it. */
function beyondOf(layout: Layout, family: Family): bigint {
  const last = lastIdOf(layout, lastTickOf(layout, family));
  return last === largestOf(layout, family) ? last : last + 1n;
}

/** The largest value of the type that a column of such IDs has. */
function largestOf({ bits }: Layout, family: Family): bigint {
  return 2n ** (bits > 63 && family === 'mysql' ? 64n : 63n) - 1n;
}

/** A time as a literal. */
function literalOf(family: Family, ms: number): string {
  return family === 'postgres' ? `timestamptz '${textOf(ms)}+00'` : `TIMESTAMP'${textOf(ms)}'`;
}

/** A time in UTC as every database reads it: `2026-01-01 00:00:00.000`. */
function textOf(ms: number): string {
  return new Date(ms).toISOString().replace(/^\+0*/, '').replace('T', ' ').replace('Z', '');
}

function requireEpoch({ epochMs }: Layout): void {
  if (epochMs >= FIRST_EPOCH_MS && epochMs <= LAST_OF_9999_MS) return;
  throw new InputError(
    `--start ${new Date(epochMs).toISOString()}: SQL reads layouts whose epoch lies in the years 1000 to 9999`,
  );
}
