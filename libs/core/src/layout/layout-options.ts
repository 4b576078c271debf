import { OptionReader } from '../config/option-reader.js';
import {
  integer,
  type Numbers,
  option,
  type OptionRule,
  type OptionsOf,
  readOptions,
  type ReadOptions,
} from '../config/option-rules.js';
import { wallClock } from '../ports.js';
import { findTimeUnit, parseEpoch, TIME_UNITS, type TimeUnit, DAY_MS } from '../time/timeline.js';
import { type Field, Layout, layoutOfAnyCopy } from './layout.js';

/** The options that shape the IDs. A ready layout takes their place. Names are the original's, in camelCase. */
export const bitOptions = {
  /**
   * Length of a tick.
   * @range `millisecond`, `second`, `minute`, `hour`, `day`, in any case, or 1-5 @defaultValue `second`
   */
  timeUnit: option<TimeUnit | 1 | 2 | 3 | 4 | 5, TimeUnit>(readUnit, {
    readBy: 'snowflakes',
    flag: ['--time-unit <unit>', 'millisecond, second, minute, hour or day'],
  }),
  /** The epoch. @range an ISO string (UTC unless it names a zone), a Date or Unix ms; not in the future */
  startTimeStamp: option<string | Date | number, number, Present>(readEpoch, {
    isRequired: true,
    readBy: 'snowflakes',
    flag: ['--start <date>', 'epoch, such as 2026-01-01 (UTC)'],
  }),
  /**
   * How many bits the timestamp has.
   * @range millisecond 41-55, second 31-55, minute 25-50, hour 19-45, day 15-40
   */
  timeStampLength: integer({
    // With an unknown unit the range is unknown as well: take the widest range and report the unit only.
    min: ({ timeUnit }: Unit, reader) => (reader.refused('timeUnit') ? 15 : TIME_UNITS[timeUnit].minTimestampBits),
    max: ({ timeUnit }: Unit, reader) => (reader.refused('timeUnit') ? 55 : TIME_UNITS[timeUnit].maxTimestampBits),
    hint: ({ timeUnit }: Unit, reader) =>
      reader.refused('timeUnit')
        ? 'the range depends on timeUnit'
        : `with timeUnit '${timeUnit}' fewer expire too soon, more leave no space`,
    isRequired: true,
    readBy: 'snowflakes',
    flag: ['--timestamp-bits <bits>', 'number of timestamp bits'],
  }),
  /** How many bits the worker id has. @range 3-10 */
  workIdLength: integer({
    min: 3,
    max: 10,
    isRequired: true,
    readBy: 'snowflakes',
    flag: ['--worker-bits <bits>', 'number of worker bits'],
  }),
  /** How many low bits are reserved. @range 0-5 @defaultValue 0 (1 is advised) */
  endBitsLength: integer({
    min: 0,
    max: 5,
    default: 0,
    readBy: 'snowflakes',
    flag: ['--end-bits <bits>', 'number of fixed low bits'],
  }),
  /** The value of the reserved bits. @range 0 to 2^endBitsLength - 1 @defaultValue 0 */
  endBitsValue: integer({
    min: 0,
    // Where the length is wrong, the value is checked against the widest legal one.
    max: ({ endBitsLength }: Numbers<'endBitsLength'>, reader) =>
      2 ** (reader.refused('endBitsLength') ? 5 : endBitsLength) - 1,
    default: 0,
    hint: 'the range follows from endBitsLength',
    readBy: 'snowflakes',
    flag: ['--end-value <value>', 'value of the end bits'],
  }),
};

interface Present {
  /** Unix ms. */
  readonly nowMs: number;
}

interface Unit {
  readonly timeUnit: TimeUnit;
}

/** The lowest worker id, and the limits that the worker bits set. */
type WorkerIds = Numbers<'maxWorkerId' | 'defaultMaxWorkerId' | 'serviceMinWorkId'>;

const WORKER_RANGE_HINT = 'the range follows from workIdLength, the worker bits';

/** How a service uses a layout: the options that apply to a ready layout too. */
export const layoutUseOptions = {
  /** Lowest worker id of this service. @range 0 to 2^workIdLength - 1 @defaultValue 1 */
  serviceMinWorkId: integer({
    min: 0,
    max: ({ maxWorkerId }: WorkerIds) => maxWorkerId,
    default: ({ maxWorkerId }: WorkerIds) => Math.min(1, maxWorkerId),
    hint: WORKER_RANGE_HINT,
    readBy: 'ownWorker',
    flag: ['--min-worker <id>', 'lowest worker id of this service'],
  }),
  /**
   * Highest worker id of this service.
   * @range `serviceMinWorkId` to 2^workIdLength - 1 @defaultValue 2^workIdLength - 1
   */
  serviceMaxWorkId: integer({
    min: 0,
    max: ({ maxWorkerId }: WorkerIds) => maxWorkerId,
    default: ({ serviceMinWorkId, defaultMaxWorkerId }: WorkerIds) => Math.max(serviceMinWorkId, defaultMaxWorkerId),
    hint: WORKER_RANGE_HINT,
    readBy: 'ownWorker',
    flag: ['--max-worker <id>', 'highest worker id of this service'],
  }),
  /** Initial value of the clock-back bit. @range 0-1 @defaultValue 0 */
  timeBackBitValue: integer({ min: 0, max: 1, default: 0, readBy: 'ownWorker' }) as OptionRule<0 | 1, 0 | 1>,
  /** A new table does not accept a layout that runs out sooner than this. @range 0-36,500 @defaultValue 365 */
  minLifetimeDays: integer({ min: 0, max: 36_500, default: 365, readBy: 'rows' }),
  /**
   * For warnings only: how many processes run. The range should have twice as many worker ids.
   * @range 1 or more @defaultValue none
   */
  expectedNodes: integer({ min: 1, max: Number.MAX_SAFE_INTEGER, readBy: 'ownWorker' }),
  /** For warnings only: the rate that one process must reach. @range 1 or more @defaultValue none */
  expectedIdsPerSecond: integer({ min: 1, max: Number.MAX_SAFE_INTEGER, readBy: 'ownWorker' }),
};

/** The options that make and judge a layout. */
export const layoutOptions = { ...bitOptions, ...layoutUseOptions };

/** The bits of a raindrop ID, and how a service uses them. Names are the original's, in camelCase. */
export interface LayoutOptions extends OptionsOf<typeof layoutOptions> {}

/** A checked layout, and how the service uses it. */
export interface ResolvedLayout {
  readonly layout: Layout;
  /** The service's worker ids, both ends included. */
  readonly workers: WorkerRange;
  /** The lane a fresh worker starts on. */
  readonly firstLane: 0 | 1;
  readonly minLifetimeDays: number;
  readonly warnings: readonly LayoutWarning[];
}

/** Worker ids, both ends included. */
export interface WorkerRange {
  readonly min: number;
  readonly max: number;
}

const YEAR_MS = 365 * DAY_MS;

type BitOption = keyof typeof bitOptions;

/** The names of {@link bitOptions}. */
export const BIT_OPTIONS = Object.keys(bitOptions) as readonly BitOption[];

/** The options of {@link BIT_OPTIONS} that may be given together with `layout: 'number'`. */
const NUMBER_OPTIONS: readonly string[] = ['startTimeStamp', 'endBitsValue'];

/**
 * Checks layout options and builds the layout.
 * @param nowMs the present, against which the epoch and the remaining life are judged; Unix ms.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveLayout(options: LayoutOptions, nowMs: number): ResolvedLayout {
  const reader = new OptionReader(options);
  const resolved = readLayout(reader, nowMs);
  if (resolved !== undefined) reportShortLife(reader, resolved, nowMs);
  reader.finish();
  return resolved!;
}

/**
 * Checks layout options and builds the layout alone.
 * @param nowMs the present by default
 */
export function createLayout(options: LayoutOptions, nowMs = wallClock.now()): Layout {
  return resolveLayout(options, nowMs).layout;
}

/** Reads the layout options with a reader that others share; undefined when a problem leaves nothing to build. */
export function readLayout(reader: OptionReader, nowMs: number): ResolvedLayout | undefined {
  const bits = readOptions(reader, bitOptions, { nowMs });
  const { timeStampLength: timeBits, workIdLength: workerBits, endBitsLength: endBits } = bits;
  // Where a length is wrong, the worker ids are checked against the widest legal length.
  const usage = readUsage(reader, 2 ** (reader.refused('workIdLength') ? 10 : workerBits) - 1);
  const sequenceBits = 63 - timeBits - workerBits - 1 - endBits;
  if (sequenceBits < 1 && !reader.refused('timeUnit', 'timeStampLength', 'workIdLength', 'endBitsLength')) {
    const message = `leaves no sequence bit: 63 - ${timeBits} - workIdLength ${workerBits} - 1 - endBitsLength ${endBits} = ${sequenceBits}, must be at least 1`;
    reader.problem('timeStampLength', timeBits, message);
  }
  if (reader.refused(...BIT_OPTIONS)) return undefined;

  const fields = raindropFields({ timeBits, workerBits, sequenceBits, endBits, endValue: bits.endBitsValue });
  const { ms: unitMs } = TIME_UNITS[bits.timeUnit];
  return resolvedFor(new Layout({ fields, unitMs, epochMs: bits.startTimeStamp }), usage, nowMs);
}

function readUnit(reader: OptionReader, name: string): TimeUnit {
  const given = reader.value(name);
  const unit = given === undefined ? 'second' : findTimeUnit(given);
  if (unit === undefined) {
    const legal = Object.entries(TIME_UNITS).map(([name, { number }]) => `'${name}' (${number})`);
    reader.problem(name, given, `must be one of ${legal.join(', ')}`);
  }
  return unit ?? 'second';
}

/** Reads the epoch; Unix ms, 0 after a problem. */
function readEpoch(reader: OptionReader, name: string, { nowMs }: Present): number {
  const given = reader.value(name);
  const epochMs = parseEpoch(given);
  const legal = `an ISO date such as '2024-01-01', a Date or Unix ms, not in the future`;
  if (given === undefined) reader.problem(name, given, `is required: ${legal}`);
  else if (epochMs === undefined) reader.problem(name, given, `is not a date: must be ${legal}`);
  else if (epochMs > nowMs) reader.problem(name, given, `is in the future: must be ${legal}`);
  return epochMs ?? 0;
}

/**
 * Reports a layout that ends within `minLifetimeDays`. For a table that was never used: a service that runs already must
 * be able to restart in the last year of its layout.
 */
export function reportShortLife(reader: OptionReader, resolved: ResolvedLayout, nowMs: number): void {
  const { layout, minLifetimeDays } = resolved;
  if (reader.refused('minLifetimeDays')) return;
  if (layout.expiresAt === null || layout.expiresAt.getTime() - nowMs >= minLifetimeDays * DAY_MS) return;
  const message =
    `the layout expires at ${layout.expiresAt.toISOString()}, within minLifetimeDays (${minLifetimeDays}): use a ` +
    `later startTimeStamp or more bits`;
  reader.problem('timeStampLength', layout.fields[0]!.bits, message);
}

/**
 * Reports a layout that can issue nothing now, although it can read: one that has expired, or whose epoch lies in the
 * future. For ready layouts, presets among them: without this check a service would start and refuse every ID.
 * @param option the option to name in the problem: `layout`, or the one that decides the layout's life
 */
export function reportOutsideLife(reader: OptionReader, option: string, layout: Layout, nowMs: number): void {
  const { epochMs, expiresAt, fingerprint, timeline, maxTick } = layout;
  if (timeline.tickAt(nowMs) < 0) {
    const since = new Date(epochMs).toISOString();
    reader.problem(option, fingerprint, `issues no IDs before its epoch, ${since}: use a past startTimeStamp`);
  } else if (timeline.tickAt(nowMs) > maxTick) {
    const end = expiresAt === null ? 'every Date' : expiresAt.toISOString();
    const message =
      `expired at ${end} and can only read: for new data use a later startTimeStamp or more timestamp bits, and keep ` +
      `this layout for parseId()`;
    reader.problem(option, fingerprint, message);
  }
}

/** What may take the place of the options of the bits. */
export const readyLayoutOptions = {
  /**
   * Replaces the bit options. `number` is for keys that are JavaScript numbers; `startTimeStamp` and `endBitsValue` may be
   * set with it. A `Layout` is a ready one, for example a preset.
   * @range `number`, or a `Layout`
   * @defaultValue without bit options the one that the worker table remembers; else 33 bits of seconds from 2026-01-01, 10
   *   worker bits, 1 end bit
   */
  layout: option<Layout | 'number', Layout | undefined, Present>(readReady, {
    readBy: 'snowflakes',
    flag: ['--layout <name>', 'number: all IDs are exact JavaScript numbers'],
  }),
};

/** A ready layout, a preset's for example, and how a service uses it. */
export interface ReadyLayoutOptions
  extends
    Required<OptionsOf<typeof readyLayoutOptions>>,
    Partial<OptionsOf<typeof bitOptions>>,
    OptionsOf<typeof layoutUseOptions> {}

/**
 * Reads the options of a layout, or a ready one in their place, with a reader that others share.
 * @param mostWorkers the highest worker id of a ready layout when `serviceMaxWorkId` is not given
 * @param unnamed the layout of options that name none; without it such options are a problem
 * @returns undefined when a problem leaves nothing to build
 */
export function readAnyLayout(
  reader: OptionReader,
  nowMs: number,
  mostWorkers = Number.POSITIVE_INFINITY,
  unnamed?: Layout,
): ResolvedLayout | undefined {
  const isReady = reader.value('layout') !== undefined;
  if (!isReady && (unnamed === undefined || !namesNoLayout(reader))) return readLayout(reader, nowMs);
  const layout = isReady ? readReady(reader, 'layout', { nowMs }) : unnamed;
  if (layout === undefined) return undefined;
  const usage = readUsage(reader, layout.maxWorkerId, Math.min(layout.maxWorkerId, mostWorkers));
  return resolvedFor(layout, usage, nowMs);
}

/** Tells whether neither `layout` nor an option of {@link BIT_OPTIONS} is given. */
export function namesNoLayout(reader: OptionReader): boolean {
  return ['layout', ...BIT_OPTIONS].every((option) => reader.value(option) === undefined);
}

function readReady(reader: OptionReader, name: string, present: Present): Layout | undefined {
  const given = reader.value(name);
  const isNumber = typeof given === 'string' && given.toLowerCase() === 'number';
  for (const option of BIT_OPTIONS) {
    const value = reader.value(option);
    if (value === undefined || (isNumber && NUMBER_OPTIONS.includes(option))) continue;
    reader.problem(option, value, 'cannot be combined with layout, which sets it');
  }
  const layout = layoutOfAnyCopy(given);
  if (layout !== undefined) return layout;
  if (!isNumber) {
    reader.problem(name, given, `must be 'number' or a Layout from createLayout()`);
    return undefined;
  }
  const epochMs =
    reader.value('startTimeStamp') === undefined ? undefined : readEpoch(reader, 'startTimeStamp', present);
  const endValue = reader.integer('endBitsValue', { min: 0, max: 1, default: 0 });
  return reader.refused('startTimeStamp', 'endBitsValue') ? undefined : numberLayout(epochMs, endValue);
}

/** How a service uses a layout, checked and complete. */
type LayoutUsage = ReadOptions<typeof layoutUseOptions>;

/** Reads the options of the layout's use. @param most the highest worker id when `serviceMaxWorkId` is not given */
function readUsage(reader: OptionReader, maxWorkerId: number, most = maxWorkerId): LayoutUsage {
  const usage = readOptions(reader, layoutUseOptions, { maxWorkerId, defaultMaxWorkerId: most });
  const { serviceMinWorkId: min, serviceMaxWorkId: max } = usage;
  if (min > max && !reader.refused('serviceMinWorkId', 'serviceMaxWorkId')) {
    reader.problem('serviceMinWorkId', min, `must not be greater than serviceMaxWorkId, ${max}`);
  }
  return usage;
}

/** A layout and its use, with their warnings at `nowMs`. */
export function resolvedFor(layout: Layout, usage: LayoutUsage, nowMs: number): ResolvedLayout {
  const { serviceMinWorkId: min, serviceMaxWorkId: max, timeBackBitValue: firstLane, minLifetimeDays } = usage;
  const warnings = layoutWarnings(layout, { ...usage, nowMs, workers: max - min + 1 });
  return { layout, workers: { min, max }, firstLane, minLifetimeDays, warnings };
}

/** 2026-01-01, UTC. */
const USUAL_EPOCH_MS = Date.UTC(2026, 0, 1);

/**
 * The layout of a service whose options name none, where the store of its worker ids remembers none either: 262,144 IDs
 * a second and process, 1,023 workers, until 2298. A later release may change it: a service whose store remembers a
 * layout goes on with that layout.
 */
export const DEFAULT_LAYOUT = layoutOf(33, 10, 18);

/**
 * The layout of a service whose options name none, and whose source of worker ids cannot remember layouts. It must
 * never change, not even when {@link DEFAULT_LAYOUT} does: processes of two releases would repeat each other's IDs.
 */
export const LASTING_LAYOUT = layoutOf(33, 10, 18);

/**
 * The layout that options name with `layout: 'number'`: 8,192 IDs a second and process, 255 workers. Its IDs have 53 bits,
 * so that all are exact JavaScript numbers; after 34 years it has none left. Up to then its IDs equal, digit for digit,
 * those of 40 timestamp bits, 8 worker bits and 1 end bit. The bits must never change: the name stands for them.
 * @param epochMs Unix ms
 */
export function numberLayout(epochMs = USUAL_EPOCH_MS, endValue = 0): Layout {
  return layoutOf(30, 8, 13, epochMs, endValue);
}

function layoutOf(
  timeBits: number,
  workerBits: number,
  sequenceBits: number,
  epochMs = USUAL_EPOCH_MS,
  endValue = 0,
): Layout {
  const fields = raindropFields({ timeBits, workerBits, sequenceBits, endBits: 1, endValue });
  return new Layout({ fields, unitMs: TIME_UNITS.second.ms, epochMs });
}

/** The fields of raindrop's own layouts, from the most significant bits down. */
function raindropFields(bits: {
  readonly timeBits: number;
  readonly workerBits: number;
  readonly sequenceBits: number;
  readonly endBits: number;
  readonly endValue: number;
}): readonly Field[] {
  const end: Field = { name: 'end', role: 'fixed', bits: bits.endBits, value: bits.endValue };
  return [
    { name: 'timestamp', role: 'time', bits: bits.timeBits },
    { name: 'worker', role: 'worker', bits: bits.workerBits },
    { name: 'clockBack', role: 'clockBack', bits: 1 },
    { name: 'sequence', role: 'sequence', bits: bits.sequenceBits },
    ...(bits.endBits > 0 ? [end] : []),
  ];
}

/** Something legal that is rarely wanted. `code` is stable. */
export interface LayoutWarning {
  readonly code:
    'LEAP_SECONDS' | 'COARSE_UNIT' | 'CAPACITY' | 'NO_END_BITS' | 'OLD_EPOCH' | 'FEW_WORKERS' | 'EXPIRES_SOON';
  readonly message: string;
}

/** The use of a layout, against which its warnings are judged. */
export interface LayoutUse {
  readonly nowMs: number;
  /** How many worker ids the service's range holds. */
  readonly workers: number;
  readonly expectedNodes?: number | undefined;
  readonly expectedIdsPerSecond?: number | undefined;
}

/** Everything about a layout and its use that a careful reader would question. */
function layoutWarnings(layout: Layout, use: LayoutUse): readonly LayoutWarning[] {
  const warnings: LayoutWarning[] = [];
  const warn = (code: LayoutWarning['code'], message: string): number => warnings.push({ code, message });

  // The bits of other systems' layouts are fixed: advice on them would be useless.
  const isOurs = layout.hasClockBack;
  if (isOurs && layout.unitMs === TIME_UNITS.millisecond.ms) {
    warn(
      'LEAP_SECONDS',
      'milliseconds are sensitive to clock corrections and leap seconds; seconds borrow and hold more easily',
    );
  }
  if (layout.unitMs >= TIME_UNITS.hour.ms) {
    const unit = layout.unitMs < TIME_UNITS.day.ms ? 'hour' : 'day';
    warn('COARSE_UNIT', `a tick of one ${unit} is rarely a good choice: callers cannot wait for the next tick`);
  }
  if (use.expectedIdsPerSecond !== undefined && use.expectedIdsPerSecond > layout.idsPerSecond) {
    warn(
      'CAPACITY',
      `${use.expectedIdsPerSecond} IDs per second are expected of a worker, but the layout allows ` +
        `${layout.idsPerSecond}`,
    );
  }
  if (isOurs && layout.fields.every((field) => field.role !== 'fixed')) {
    warn('NO_END_BITS', 'without end bits, the bit lengths can never be changed safely; use endBitsLength 1');
  }
  const wastedYears = (use.nowMs - layout.epochMs) / YEAR_MS;
  if (isOurs && wastedYears > 5) {
    warn('OLD_EPOCH', `the epoch is ${Math.floor(wastedYears)} years ago; that much of the layout's life is wasted`);
  }
  if (use.expectedNodes !== undefined && use.workers < 2 * use.expectedNodes) {
    warn('FEW_WORKERS', `${use.workers} worker ids for ${use.expectedNodes} nodes: use at least two per node`);
  }
  if (layout.expiresAt !== null && layout.expiresAt.getTime() - use.nowMs < YEAR_MS) {
    warn('EXPIRES_SOON', `the layout expires at ${layout.expiresAt.toISOString()}: plan the next one`);
  }
  return warnings;
}
