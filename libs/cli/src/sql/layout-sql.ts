import { DAY_MS } from '@raindrop/core/internal';
import type { FieldRole, Layout } from '@raindrop/core';
import { type Dialect, type Family, quoteTable } from '@raindrop/node/internal';
import type { KeyPath } from '../adopt/old-key.js';
import { InputError } from '../input-error.js';

/** The parts of an ID that SQL reads, in the order in which they are printed. */
const PARTS = ['time', 'worker', 'sequence'] as const;

type Part = (typeof PARTS)[number];

/** The years that an epoch may lie in: MySQL's times begin in 1000, and the literals here have four digits. */
const FIRST_EPOCH_MS = Date.UTC(1000, 0, 1);
const LAST_OF_9999_MS = Date.UTC(10_000, 0, 1) - 1;

/** How a database reads IDs. */
interface IdSql {
  /** The bits of its largest integer. */
  readonly integerBits: 63 | 64;
  /** The last time that it can hold, Unix ms. */
  readonly latestMs: number;
  /** The type of a time. */
  readonly timeType: string;
  /** Whether it stores generated columns, or computes them at each read. */
  readonly generated: 'STORED' | 'VIRTUAL';
  /** The start of an ID's tick. Every step is exact, and none depends on the time zone of the session. */
  readonly timeSql: (layout: Layout, id: string) => string;
  /** Times to the microsecond; undefined where a time is a text. */
  readonly moments?: {
    readonly type: string;
    readonly literal: (ms: number) => string;
    /** The first tick of `unit` microseconds that begins with the moment, or after it. */
    readonly tick: (moment: string, begin: string, unit: number) => string;
  };
  /** Undefined where SQL has no functions. */
  readonly functions?: {
    readonly integer: string;
    /** The type of IDs of more than 63 bits. */
    readonly largeId: string;
    /** @param head name, parameters and result */
    readonly create: (name: string, head: string, body: string) => string[];
  };
}

const ID_SQL: Readonly<Record<Family, IdSql>> = {
  mysql: {
    integerBits: 64,
    latestMs: LAST_OF_9999_MS,
    timeType: 'DATETIME(3)',
    generated: 'VIRTUAL',
    timeSql: ({ unitMs, timeline, lowBits }, id) =>
      `TIMESTAMP'${textOf(timeline.startOf(0))}' + INTERVAL (${id} >> ${lowBits}) * ${unitMs * 1_000} MICROSECOND`,
    moments: {
      type: 'DATETIME(6)',
      literal: (ms) => `TIMESTAMP'${textOf(ms)}'`,
      tick: (moment, begin, unit) => `(TIMESTAMPDIFF(MICROSECOND, ${begin}, ${moment}) + ${unit - 1}) DIV ${unit}`,
    },
    functions: {
      integer: 'BIGINT',
      largeId: 'BIGINT UNSIGNED',
      create: (name, head, body) => [
        `DROP FUNCTION IF EXISTS ${name}`,
        `CREATE FUNCTION ${head}\n  DETERMINISTIC NO SQL SQL SECURITY INVOKER RETURN ${body}`,
      ],
    },
  },
  postgres: {
    integerBits: 63,
    // It holds every Date.
    latestMs: Number.POSITIVE_INFINITY,
    timeType: 'timestamptz',
    generated: 'STORED',
    timeSql: postgresTime,
    moments: {
      type: 'timestamptz',
      literal: (ms) => `timestamptz '${textOf(ms)}+00'`,
      tick: (moment, begin, unit) =>
        `((extract(epoch FROM ${moment} - ${begin}) * 1000000)::bigint + ${unit - 1}) / ${unit}`,
    },
    functions: {
      integer: 'bigint',
      largeId: 'bigint',
      // Not STRICT: a strict function with a CASE is called for each row, where these become a part of the query. RETURN
      // looks names up when the function is made, and not in the search_path of each session that calls it.
      create: (_name, head, body) => [
        `CREATE OR REPLACE FUNCTION ${head}\n  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ${body}`,
      ],
    },
  },
  sqlite: {
    integerBits: 63,
    latestMs: LAST_OF_9999_MS,
    // As `Date.toISOString()` writes it.
    timeType: 'TEXT',
    generated: 'VIRTUAL',
    timeSql: ({ unitMs, timeline, lowBits }, id) =>
      `strftime('%Y-%m-%dT%H:%M:%fZ', ((${id} >> ${lowBits}) * ${unitMs} + ${timeline.startOf(0)}) / 1000.0, 'unixepoch')`,
  },
};

/** Whether the database has functions in SQL. */
export function hasFunctions(family: Family): boolean {
  return ID_SQL[family].functions !== undefined;
}

/**
 * Writes the functions that read the IDs of a layout: `raindrop_time(id)`, `raindrop_worker(id)` and
 * `raindrop_sequence(id)` answer as `parse()` does, and with NULL for what `parse()` refuses.
 * `raindrop_first_id(moment)` is the first ID whose time is the moment or a later one: 0 before the epoch, and above all
 * IDs after the layout's end.
 * @throws InputError on SQLite, which has no functions in SQL, and for an epoch outside the years 1000 to 9999
 */
export function functionsSql(layout: Layout, family: Family): string[] {
  const { functions, moments, timeType } = ID_SQL[family];
  if (functions === undefined || moments === undefined) throw noFunctions();
  requireEpoch(layout);
  const { integer } = functions;
  const id = idTypeOf(layout, family);
  return [
    ...PARTS.flatMap((part) => {
      const type = part === 'time' ? timeType : integer;
      return createFunction(family, `raindrop_${part}`, `id ${id}`, type, partSql(layout, family, part, 'id'));
    }),
    ...createFunction(family, 'raindrop_first_id', `moment ${moments.type}`, id, firstIdSql(layout, family, 'moment')),
  ];
}

/** The type of an ID in functions. @throws InputError on SQLite */
export function idTypeOf({ bits }: Layout, family: Family): string {
  const { functions } = ID_SQL[family];
  if (functions === undefined) throw noFunctions();
  return bits > 63 ? functions.largeId : functions.integer;
}

/**
 * Writes the statements that make a function of one expression, in place of one of the same name and parameters.
 * @throws InputError on SQLite
 */
export function createFunction(family: Family, name: string, given: string, returns: string, body: string): string[] {
  const { functions } = ID_SQL[family];
  if (functions === undefined) throw noFunctions();
  return functions.create(name, `${name}(${given}) RETURNS ${returns}`, body);
}

function noFunctions(): InputError {
  return new InputError('SQLite has no functions in SQL: name a table with --table, and columns are printed');
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
  const { generated, timeType } = ID_SQL[family];
  const added = PARTS.map((part) => {
    const type = part === 'time' ? timeType : 'bigint';
    return `ADD COLUMN raindrop_${part} ${type} GENERATED ALWAYS AS (${partSql(layout, family, part, column)}) ${generated}`;
  });
  const changes = dialect.addsColumnsTogether ? [added.join(',\n  ')] : added;
  return changes.map((each) => `ALTER TABLE ${quoteTable(dialect, table)}\n  ${each}`);
}

/**
 * Writes the first ID whose time is `moment` or a later one, as an expression: 0 before the epoch; above all IDs after
 * the layout's end, or the largest ID that the column holds where nothing is above it.
 */
export function firstIdSql(layout: Layout, family: Family, moment: string): string {
  const { unitMs, timeline, lowBits } = layout;
  const { moments, latestMs } = ID_SQL[family];
  const last = lastTickOf(layout, family);
  const [beginMs, lastMs] = [timeline.startOf(0), timeline.startOf(last)];
  const beyond = beyondOf(layout, family);
  if (moments === undefined) {
    const ms = `CAST(strftime('%s', ${moment}) AS INTEGER) * 1000 + CAST(substr(strftime('%f', ${moment}), 4) AS INTEGER)`;
    const tick = `(${ms} - ${beginMs} + ${unitMs - 1}) / ${unitMs}`;
    const id = `CASE WHEN tick > ${last} THEN ${beyond} WHEN tick < 0 THEN 0 ELSE tick << ${lowBits} END`;
    return `(SELECT ${id} FROM (SELECT ${tick} AS tick))`;
  }
  const begin = moments.literal(beginMs);
  const ended = lastMs <= latestMs ? ` WHEN ${moment} > ${moments.literal(lastMs)} THEN ${beyond}` : '';
  const tick = moments.tick(moment, begin, unitMs * 1_000);
  return `CASE WHEN ${moment} <= ${begin} THEN 0${ended} ELSE (${tick}) << ${lowBits} END`;
}

/** Writes the time of an ID as an expression, as `raindrop_time(id)` answers; `id` is an expression without operators. */
export function timeOfSql(layout: Layout, family: Family, id: string): string {
  return partSql(layout, family, 'time', id);
}

/** Writes a part of an ID as an expression; NULL for what is no ID of the layout. */
function partSql(layout: Layout, family: Family, part: Part, id: string): string {
  const last = lastTickOf(layout, family);
  const tick = part === 'time' ? Math.min(last, layout.timeline.tickAt(ID_SQL[family].latestMs)) : last;
  const value = part === 'time' ? ID_SQL[family].timeSql(layout, id) : numberSql(layout, part, id);
  return `CASE WHEN ${id} BETWEEN 0 AND ${lastIdOf(layout, tick)} THEN ${value} END`;
}

/** PostgreSQL computes both with doubles. Whole seconds of these years are exact, and milliseconds within a day. */
function postgresTime(layout: Layout, id: string): string {
  const { unitMs, timeline, lowBits } = layout;
  const tick = `(${id} >> ${lowBits})`;
  const beginMs = timeline.startOf(0);
  const isExact = unitMs % 1_000 === 0 && timeline.startOf(lastTickOf(layout, 'postgres')) <= LAST_OF_9999_MS;
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
  const { integerBits } = ID_SQL[family];
  return Math.min(2 ** Math.min(fields[0]!.bits, integerBits - lowBits) - 1, timeline.lastTick);
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
  return 2n ** BigInt(bits > 63 ? ID_SQL[family].integerBits : 63) - 1n;
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
