import { OptionReader } from '../config/option-reader.js';
import { findTimeUnit, parseEpoch, TIME_UNITS, type TimeUnit } from '../time/timeline.js';
import { wallClock } from '../ports.js';
import { type Field, Layout, layoutOfAnyCopy } from './layout.js';
import { readUsage, resolvedFor, type ResolvedLayout } from './layout-usage.js';

/** The bits of a raindrop ID. Names are the original's, in camelCase. */
export interface LayoutOptions {
  /**
   * Length of a tick.
   * @range `millisecond`, `second`, `minute`, `hour`, `day`, in any case, or 1-5
   * @defaultValue `second`
   */
  timeUnit?: TimeUnit | 1 | 2 | 3 | 4 | 5;
  /**
   * The epoch.
   * @range an ISO string (UTC unless it names a zone), a Date or Unix ms; not in the future
   */
  startTimeStamp: string | Date | number;
  /**
   * How many bits the timestamp has.
   * @range millisecond 41-55, second 31-55, minute 25-50, hour 19-45, day 15-40
   */
  timeStampLength: number;
  /**
   * How many bits the worker id has.
   * @range 3-10
   */
  workIdLength: number;
  /**
   * Lowest worker id of this service.
   * @range 0 to 2^workIdLength - 1
   * @defaultValue 1
   */
  serviceMinWorkId?: number;
  /**
   * Highest worker id of this service.
   * @range `serviceMinWorkId` to 2^workIdLength - 1
   * @defaultValue 2^workIdLength - 1
   */
  serviceMaxWorkId?: number;
  /**
   * First value of the clock-back bit.
   * @range 0 or 1
   * @defaultValue 0
   */
  timeBackBitValue?: 0 | 1;
  /**
   * How many low bits are reserved.
   * @range 0-5
   * @defaultValue 0 (1 is advised)
   */
  endBitsLength?: number;
  /**
   * What the reserved bits hold.
   * @range 0 to 2^endBitsLength - 1
   * @defaultValue 0
   */
  endBitsValue?: number;
  /**
   * A new table is refused a layout with less life left.
   * @range 0-36,500
   * @defaultValue 365
   */
  minLifetimeDays?: number;
  /**
   * For the warnings: take twice as many worker ids as nodes.
   * @range 1 or more
   * @defaultValue none
   */
  expectedNodes?: number;
  /**
   * For the warnings: what one node must reach.
   * @range 1 or more
   * @defaultValue none
   */
  expectedIdsPerSecond?: number;
}

const DAY_MS = 86_400_000;

/** Without these there is no layout to build. */
const SHAPING_OPTIONS = ['startTimeStamp', 'timeStampLength', 'workIdLength', 'endBitsLength', 'endBitsValue'] as const;

/**
 * Checks layout options and builds the layout.
 * @param nowMs the present, against which the epoch and the remaining life are judged; Unix ms.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveLayout(options: LayoutOptions, nowMs: number): ResolvedLayout {
  const reader = new OptionReader(options);
  const resolved = readLayout(reader, nowMs);
  if (resolved !== undefined) refuseShortLife(reader, resolved, nowMs);
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
  const timeUnit = readUnit(reader);
  const rule = TIME_UNITS[timeUnit ?? 'second'];
  const epochMs = readEpoch(reader, nowMs);
  const timeBits = reader.integer('timeStampLength', {
    // With an unknown unit the range is unknown as well: take the widest and report the unit only.
    min: timeUnit === undefined ? 15 : rule.minTimestampBits,
    max: timeUnit === undefined ? 55 : rule.maxTimestampBits,
    hint:
      timeUnit === undefined
        ? 'the range depends on timeUnit'
        : `with timeUnit '${timeUnit}' fewer run out too soon, more leave no room`,
  });
  const workerBits = reader.integer('workIdLength', { min: 3, max: 10 });
  // Where a length is wrong, what depends on it is judged by the widest legal one.
  const maxWorkerId = 2 ** (reader.refused('workIdLength') ? 10 : workerBits) - 1;
  const usage = readUsage(reader, maxWorkerId);
  const endBits = reader.integer('endBitsLength', { min: 0, max: 5, default: 0 });
  const endValue = reader.integer('endBitsValue', {
    min: 0,
    max: 2 ** (reader.refused('endBitsLength') ? 5 : endBits) - 1,
    default: 0,
    hint: `the range follows from endBitsLength`,
  });
  const sequenceBits = 63 - timeBits - workerBits - 1 - endBits;
  if (sequenceBits < 1 && !reader.refused('timeUnit', 'timeStampLength', 'workIdLength', 'endBitsLength')) {
    const message = `leaves no sequence bit: 63 - ${timeBits} - workIdLength ${workerBits} - 1 - endBitsLength ${endBits} = ${sequenceBits}, must be at least 1`;
    reader.problem('timeStampLength', timeBits, message);
  }
  if (timeUnit === undefined || reader.refused(...SHAPING_OPTIONS)) return undefined;

  const fields: Field[] = [
    { name: 'timestamp', role: 'time', bits: timeBits },
    { name: 'worker', role: 'worker', bits: workerBits },
    { name: 'clockBack', role: 'clockBack', bits: 1 },
    { name: 'sequence', role: 'sequence', bits: sequenceBits },
  ];
  if (endBits > 0) fields.push({ name: 'end', role: 'fixed', bits: endBits, value: endValue });
  return resolvedFor(new Layout({ fields, unitMs: rule.ms, epochMs }), usage, nowMs);
}

/** Reports a layout that ends within `minLifetimeDays`: right for a table that was never used, too strict later. */
export function refuseShortLife(reader: OptionReader, resolved: ResolvedLayout, nowMs: number): void {
  const { layout, minLifetimeDays } = resolved;
  if (reader.refused('minLifetimeDays')) return;
  if (layout.expiresAt === null || layout.expiresAt.getTime() - nowMs >= minLifetimeDays * DAY_MS) return;
  const message = `the layout expires at ${layout.expiresAt.toISOString()}, within minLifetimeDays (${minLifetimeDays}): take a later startTimeStamp or more bits`;
  reader.problem('timeStampLength', layout.fields[0]!.bits, message);
}

function readUnit(reader: OptionReader): TimeUnit | undefined {
  const given = reader.value('timeUnit');
  const unit = given === undefined ? 'second' : findTimeUnit(given);
  if (unit === undefined) {
    const legal = Object.entries(TIME_UNITS).map(([name, { number }]) => `'${name}' (${number})`);
    reader.problem('timeUnit', given, `must be one of ${legal.join(', ')}`);
  }
  return unit;
}

/** Reads the epoch, which is required; Unix ms, 0 after a problem. */
function readEpoch(reader: OptionReader, nowMs: number): number {
  const given = reader.value('startTimeStamp');
  const epochMs = parseEpoch(given);
  const legal = `an ISO date such as '2024-01-01', a Date or Unix ms, not in the future`;
  if (given === undefined) reader.problem('startTimeStamp', given, `is required: ${legal}`);
  else if (epochMs === undefined) reader.problem('startTimeStamp', given, `is not a date: must be ${legal}`);
  else if (epochMs > nowMs) reader.problem('startTimeStamp', given, `lies in the future: must be ${legal}`);
  return epochMs ?? 0;
}

/** The options that shape a layout; a ready one takes their place. */
export const BIT_OPTIONS = [
  'timeUnit',
  'startTimeStamp',
  'timeStampLength',
  'workIdLength',
  'endBitsLength',
  'endBitsValue',
] as const;

/** Those of them that may stand beside `layout: 'number'`. */
const NUMBER_OPTIONS: readonly string[] = ['startTimeStamp', 'endBitsValue'];

/** A ready layout, a preset's for example, and how a service uses it. */
export interface ReadyLayoutOptions
  extends
    Omit<LayoutOptions, (typeof BIT_OPTIONS)[number]>,
    Partial<Pick<LayoutOptions, (typeof BIT_OPTIONS)[number]>> {
  /** `number` has the bits of keys that are JavaScript numbers; `startTimeStamp` and `endBitsValue` may stand beside it. */
  layout: Layout | 'number';
}

/**
 * Reads the options of a layout, or a ready one in their place, with a reader that others share.
 * @param mostWorkers the most worker ids of a ready layout when none are named
 * @param unnamed the layout of options that name none; by default they are required
 * @returns undefined when a problem leaves nothing to build
 */
export function readAnyLayout(
  reader: OptionReader,
  nowMs: number,
  mostWorkers = Number.POSITIVE_INFINITY,
  unnamed?: Layout,
): ResolvedLayout | undefined {
  const given = reader.value('layout');
  if (given === undefined && (unnamed === undefined || !namesNoLayout(reader))) return readLayout(reader, nowMs);
  const layout = given === undefined ? unnamed : readReady(reader, given, nowMs);
  if (layout === undefined) return undefined;
  const usage = readUsage(reader, layout.maxWorkerId, Math.min(layout.maxWorkerId, mostWorkers));
  return resolvedFor(layout, usage, nowMs);
}

/** Tells whether the options say nothing of what the IDs look like. */
export function namesNoLayout(reader: OptionReader): boolean {
  return ['layout', ...BIT_OPTIONS].every((option) => reader.value(option) === undefined);
}

function readReady(reader: OptionReader, given: unknown, nowMs: number): Layout | undefined {
  const isNumber = typeof given === 'string' && given.toLowerCase() === 'number';
  for (const option of BIT_OPTIONS) {
    const value = reader.value(option);
    if (value === undefined || (isNumber && NUMBER_OPTIONS.includes(option))) continue;
    reader.problem(option, value, 'cannot be given together with layout, which decides it');
  }
  const layout = layoutOfAnyCopy(given);
  if (layout !== undefined) return layout;
  if (!isNumber) {
    reader.problem('layout', given, `must be 'number', or a Layout as createLayout() returns it`);
    return undefined;
  }
  const epochMs = reader.value('startTimeStamp') === undefined ? undefined : readEpoch(reader, nowMs);
  const endValue = reader.integer('endBitsValue', { min: 0, max: 1, default: 0 });
  return reader.refused('startTimeStamp', 'endBitsValue') ? undefined : numberLayout(epochMs, endValue);
}

/** 2026-01-01, UTC. */
const EPOCH_MS = Date.UTC(2026, 0, 1);

const SECOND_MS = 1_000;

/** The bits of a layout in seconds, with one end bit. */
interface Bits {
  readonly time: number;
  readonly worker: number;
  readonly sequence: number;
}

/**
 * The layout of a service whose options name none, where the store of its worker ids has served none either: 262,144 IDs
 * a second and process, 1,023 workers, until 2298. A later release may take another one here: where a store has served a
 * layout, the service goes on with that.
 */
export const DEFAULT_LAYOUT = layoutOf({ time: 33, worker: 10, sequence: 18 });

/**
 * The layout of a service whose options name none, and whose worker ids come from where nothing remembers layouts. It
 * must never change, also where {@link DEFAULT_LAYOUT} does: processes of two releases would repeat each other's IDs.
 */
export const LASTING_LAYOUT = layoutOf({ time: 33, worker: 10, sequence: 18 });

/**
 * The layout that options name with `layout: 'number'`: 8,192 IDs a second and process, 255 workers. Its IDs have 53 bits,
 * so that all are exact JavaScript numbers; after 34 years it has none left. Digit for digit they are those of 40 timestamp
 * bits, 8 worker bits and 1 end bit up to then. The bits must never change: they are what the name stands for.
 * @param epochMs Unix ms
 */
export function numberLayout(epochMs = EPOCH_MS, endValue = 0): Layout {
  return layoutOf({ time: 30, worker: 8, sequence: 13 }, epochMs, endValue);
}

function layoutOf({ time, worker, sequence }: Bits, epochMs = EPOCH_MS, endValue = 0): Layout {
  return new Layout({
    fields: [
      { name: 'timestamp', role: 'time', bits: time },
      { name: 'worker', role: 'worker', bits: worker },
      { name: 'clockBack', role: 'clockBack', bits: 1 },
      { name: 'sequence', role: 'sequence', bits: sequence },
      { name: 'end', role: 'fixed', bits: 1, value: endValue },
    ],
    unitMs: SECOND_MS,
    epochMs,
  });
}
