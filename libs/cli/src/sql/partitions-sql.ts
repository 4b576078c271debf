import type { Layout } from '@raindrop/core';
import { MAX_ID, DAY_MS } from '@raindrop/core/internal';
import { type Dialect, type Family, quoteTable } from '@raindrop/node/internal';
import type { KeyPath } from '../adopt/old-key.js';
import { InputError } from '../input-error.js';

/** MySQL's limit is 8,192 partitions, and one of them is for later IDs. */
const MOST_PARTITIONS = 8_191;

/** The longest name of a table in PostgreSQL, bytes. It shortens longer ones, and two could become one. */
const LONGEST_NAME = 63;

/** The length of a partition, in UTC. A week begins on Monday. */
const PERIODS = {
  month: {
    start: (date: Date) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth()),
    after: (date: Date) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1),
  },
  week: {
    start: (date: Date) => dayOf(date) - ((date.getUTCDay() + 6) % 7) * DAY_MS,
    after: (date: Date) => date.getTime() + 7 * DAY_MS,
  },
  day: { start: dayOf, after: (date: Date) => date.getTime() + DAY_MS },
} as const;

/** A length of partitions. */
export type Period = keyof typeof PERIODS;

/** The partitions that are wanted. */
export interface PartitionRange {
  readonly period: Period;
  /** The first partition holds this time, Unix ms. */
  readonly fromMs: number;
  /** The last partition ends at this time, or holds it, Unix ms; or how many partitions there are. */
  readonly end: { readonly toMs: number } | { readonly count: number };
}

/** A range of IDs: `first` is its first ID, `end` the first one after it. */
interface Partition {
  /** `p2026_01`; of weeks and days `p2026_01_05`. */
  readonly name: string;
  readonly first: bigint;
  readonly end: bigint;
}

/** Whether a text names a length of partitions. */
export function isPeriod(text: string): text is Period {
  return Object.hasOwn(PERIODS, text);
}

/** The first moment after the period that a moment lies in, Unix ms. */
export function nextPeriod(period: Period, ms: number): number {
  const { start, after } = PERIODS[period];
  return after(new Date(start(new Date(ms))));
}

/**
 * Computes the ranges of IDs of consecutive periods. A range holds exactly the IDs whose time lies in its period.
 * @throws InputError for periods outside the layout's life, ticks longer than the period, and more than 8,191 partitions
 */
export function partitionsOf(layout: Layout, { period, fromMs, end }: PartitionRange): Partition[] {
  const partitions: Partition[] = [];
  let ms = PERIODS[period].start(new Date(fromMs));
  while ('toMs' in end ? ms < end.toMs : partitions.length < end.count) {
    if (partitions.length === MOST_PARTITIONS) {
      throw new InputError(
        `these are more than ${MOST_PARTITIONS.toLocaleString('en-US')} partitions: longer ones, or fewer`,
      );
    }
    const nextMs = nextPeriod(period, ms);
    const name = `p${new Date(ms)
      .toISOString()
      .slice(0, period === 'month' ? 7 : 10)
      .replaceAll('-', '_')}`;
    const partition = { name, first: firstIdAt(layout, ms), end: firstIdAt(layout, nextMs) };
    if (partition.end <= partition.first) throw holdsNothing(name, layout);
    partitions.push(partition);
    ms = nextMs;
  }
  return partitions;
}

/** How a database splits a table. */
interface PartitionSql {
  /** Writes the statements that make the partitions of a table, with one for IDs of other times. */
  readonly make: WritePartitions;
  /** Writes the statements that add partitions to such a table; on PostgreSQL those that are missing. */
  readonly add: WritePartitions;
  /** Whether CREATE TABLE must have said that the table will be split. */
  readonly isSplitFromStart: boolean;
}

type WritePartitions = (dialect: Dialect, table: KeyPath, partitions: readonly Partition[]) => string[];

const PARTITION_SQL: Readonly<Record<Family, PartitionSql | undefined>> = {
  mysql: {
    make: (dialect, table, partitions) => [
      `ALTER TABLE ${quoteTable(dialect, table)} PARTITION BY RANGE (${dialect.quote(table.column)}) (\n${listOf(partitions)}\n)`,
    ],
    add: (dialect, table, partitions) => [
      `ALTER TABLE ${quoteTable(dialect, table)} REORGANIZE PARTITION pmax INTO (\n${listOf(partitions)}\n)`,
    ],
    isSplitFromStart: false,
  },
  postgres: {
    make: (dialect, table, partitions) => {
      const others = `${partitionPath(dialect, table, 'pdefault')} PARTITION OF ${quoteTable(dialect, table)} DEFAULT`;
      return [...partitions.map((each) => rangeOf(dialect, table, each)), others].map((each) => `CREATE TABLE ${each}`);
    },
    add: (dialect, table, partitions) =>
      partitions.map((each) => `CREATE TABLE IF NOT EXISTS ${rangeOf(dialect, table, each)}`),
    isSplitFromStart: true,
  },
  sqlite: undefined,
};

/** @throws InputError on SQLite; the statements of PostgreSQL throw it for a name that it would shorten */
export function partitionSqlOf({ family }: Dialect): PartitionSql {
  const found = PARTITION_SQL[family];
  if (found === undefined) throw new InputError('SQLite has no partitions');
  return found;
}

/** The partitions of MySQL: each holds what is below its end, and in no earlier one. */
function listOf(partitions: readonly Partition[]): string {
  const lines = partitions.map(({ name, end }) => `  PARTITION ${name} VALUES LESS THAN (${end})`);
  return [...lines, '  PARTITION pmax VALUES LESS THAN MAXVALUE'].join(',\n');
}

function rangeOf(dialect: Dialect, table: KeyPath, { name, first, end }: Partition): string {
  const path = partitionPath(dialect, table, name);
  return `${path} PARTITION OF ${quoteTable(dialect, table)} FOR VALUES FROM (${first}) TO (${end})`;
}

/**
 * A partition of PostgreSQL is a table of the same schema: `orders_p2026_01`.
 * @throws InputError for a name that PostgreSQL would shorten
 */
export function partitionPath(dialect: Dialect, table: KeyPath, partition: string): string {
  const name = `${table.name}_${partition}`;
  if (Buffer.byteLength(name) > LONGEST_NAME) {
    throw new InputError(
      `--table ${table.name}: the name of the partition ${name} has more than ${LONGEST_NAME} bytes`,
    );
  }
  return quoteTable(dialect, { schema: table.schema, name });
}

/**
 * The first ID whose time is `ms` or later: 0 before the epoch. After the layout's end it is above all its IDs, or
 * 2^63 - 1, the largest value of the column.
 */
function firstIdAt({ unitMs, timeline, maxTick, lowBits }: Layout, ms: number): bigint {
  const tick = Math.min(Math.max(Math.ceil(ms / unitMs) - timeline.epochTick, 0), maxTick + 1);
  const id = BigInt(tick) << BigInt(lowBits);
  return id > MAX_ID ? MAX_ID : id;
}

function holdsNothing(name: string, { epochMs, expiresAt, unitMs }: Layout): InputError {
  const life = `${new Date(epochMs).toISOString()} to ${expiresAt?.toISOString() ?? 'beyond the year 275760'}`;
  return new InputError(`${name} would hold no ID: the layout has IDs from ${life}, and a tick of ${unitMs} ms`);
}

function dayOf(date: Date): number {
  return Math.floor(date.getTime() / DAY_MS) * DAY_MS;
}
