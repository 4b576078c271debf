import { OptionReader } from '../config/option-reader.js';
import { boolean, integer, type OptionsOf, type ReadOptions, resolveOptions } from '../config/option-rules.js';
import { wallClock } from '../ports.js';
import { TIME_UNITS, type TimeUnit } from '../time/timeline.js';
import {
  type LayoutOptions,
  type LayoutWarning,
  readAnyLayout,
  type ReadyLayoutOptions,
  reportShortLife,
  type WorkerRange,
} from './layout-options.js';
import type { FieldRole } from './layout.js';

/** A run of bits of an ID, as in `(id >> shift) & (2^bits - 1)`. */
export interface PlannedField {
  readonly name: string;
  readonly role: FieldRole;
  readonly bits: number;
  readonly shift: number;
  /** The value of a `fixed` field; null for every other role. */
  readonly value: number | null;
}

/**
 * The plan of a layout, for people and for JSON: plain numbers, texts and nulls, nothing that `JSON.stringify` would
 * drop or refuse. Moments are ISO texts in UTC.
 */
export interface LayoutPlan {
  /** From the most significant bits down, without the sign bit. */
  readonly fields: readonly PlannedField[];
  /** All bits of an ID, without the sign bit: 63, and 64 for unsigned IDs of other systems. */
  readonly bits: number;
  readonly fingerprint: string;
  /** The unit's name; null for a tick that has none, such as 10 ms. */
  readonly timeUnit: TimeUnit | null;
  readonly unitMs: number;
  readonly epoch: string;
  /** Years of 365 days, from the epoch on. */
  readonly lifetimeYears: number;
  /** The first moment without IDs; null when it lies beyond the year 275760. */
  readonly expiresAt: string | null;
  /** The first moment whose IDs may pass 2^53 - 1; null when it lies beyond the year 275760. */
  readonly safeUntil: string | null;
  /** IDs that one worker can issue in a tick, on one lane and under one code. */
  readonly idsPerTick: number;
  /** {@link idsPerTick} over the tick's length: a fraction for coarse units. */
  readonly idsPerSecond: number;
  /** The service's worker ids, both ends included, and their number. */
  readonly workers: WorkerRange & { readonly count: number };
  readonly warnings: readonly LayoutWarning[];
}

/**
 * Plans a layout without issuing anything: from its options, or a ready layout and its use.
 * @param nowMs the present, against which the epoch and the remaining life are checked; Unix ms, by default this moment
 * @throws ConfigurationError naming every option that is wrong. Options of a layout that ends within `minLifetimeDays` are
 * wrong; a ready layout that ends soon gets a warning.
 */
export function planLayout(options: LayoutOptions | ReadyLayoutOptions, nowMs = wallClock.now()): LayoutPlan {
  const reader = new OptionReader(options);
  const resolved = readAnyLayout(reader, nowMs);
  if (resolved !== undefined && reader.value('layout') === undefined) reportShortLife(reader, resolved, nowMs);
  reader.finish();
  const { layout, workers, warnings } = resolved!;
  const units = Object.keys(TIME_UNITS) as TimeUnit[];
  return {
    fields: layout.fields.map(({ name, role, bits, shift, value }) => ({
      name,
      role,
      bits,
      shift,
      value: role === 'fixed' ? (value ?? 0) : null,
    })),
    bits: layout.bits,
    fingerprint: layout.fingerprint,
    timeUnit: units.find((name) => TIME_UNITS[name].ms === layout.unitMs) ?? null,
    unitMs: layout.unitMs,
    epoch: new Date(layout.epochMs).toISOString(),
    lifetimeYears: layout.lifetimeYears,
    expiresAt: layout.expiresAt?.toISOString() ?? null,
    safeUntil: layout.safeUntil?.toISOString() ?? null,
    idsPerTick: layout.idsPerTick,
    idsPerSecond: layout.idsPerSecond,
    workers: { ...workers, count: workers.max - workers.min + 1 },
    warnings: warnings.map(({ code, message }) => ({ code, message })),
  };
}

/** The needs say what a layout has to bear. */
export const layoutNeeds = {
  /** How many processes issue at the same time. As many again are kept for rolling deploys. @range 1-1,023 */
  processes: integer({ min: 1, max: 1_023, hint: 'a worker table has at most 1023 workers', isRequired: true }),
  /** How many IDs one of them issues in its busiest second. @range 1-1,000,000,000 */
  idsPerSecond: integer({ min: 1, max: 1_000_000_000, isRequired: true }),
  /** For how many years from now on. @range 1-1,000 */
  years: integer({ min: 1, max: 1_000, isRequired: true }),
  /**
   * Whether IDs must be exact JavaScript numbers, up to 2^53 - 1, all these years.
   * @range true, false @defaultValue false
   */
  numbers: boolean({ default: false }),
};

/** The needs say what a layout has to bear. */
export interface LayoutNeeds extends OptionsOf<typeof layoutNeeds> {}

/** A layout that may fit the needs, and what speaks for and against it. */
export interface LayoutAdvice {
  /** `default` and `number` are the shapes that the documents use; `fitted` and `milliseconds` are cut to the needs. */
  readonly name: AdvisedShape['name'];
  /** For `RaindropModule.forRoot()` or `createLayout()`. */
  readonly options: LayoutOptions;
  readonly plan: LayoutPlan;
  /** Its advantages, a sentence each. */
  readonly reasons: readonly string[];
  /** Which needs it does not meet, a sentence each; empty when it meets all. */
  readonly misses: readonly string[];
}

/** A longer list is no advice. */
const MAX_LAYOUTS = 3;

/**
 * Advises two or three layouts for the needs, the best one first. A layout that misses a need is advised only where fewer
 * than two layouts meet all needs; `misses` says what it misses.
 * @param nowMs the present, Unix ms; by default this moment
 * @throws ConfigurationError naming every need that is out of its range
 */
export function adviseLayout(needs: LayoutNeeds, nowMs = wallClock.now()): readonly LayoutAdvice[] {
  const read = resolveOptions(layoutNeeds, needs);
  const advice = adviseShapes(read, nowMs).map(({ name, options, reasons }): LayoutAdvice => {
    const plan = planLayout({ ...options, minLifetimeDays: 0 }, nowMs);
    return { name, options, plan, reasons, misses: missesOf(plan, read, nowMs) };
  });
  const different = advice.filter(
    ({ plan }, index) => advice.findIndex((each) => each.plan.fingerprint === plan.fingerprint) === index,
  );
  const meeting = different.filter(({ misses }) => misses.length === 0);
  const others = different.filter(({ misses }) => misses.length > 0).sort((a, b) => a.misses.length - b.misses.length);
  return [...meeting, ...others.slice(0, Math.max(0, 2 - meeting.length))].slice(0, MAX_LAYOUTS);
}

type Needs = ReadOptions<typeof layoutNeeds>;

function missesOf(plan: LayoutPlan, needs: Needs, nowMs: number): readonly string[] {
  const { processes, idsPerSecond, years, numbers } = needs;
  const until = new Date(nowMs);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  const endsBefore = (moment: string | null): moment is string =>
    moment !== null && Date.parse(moment) < until.getTime();
  const misses: string[] = [];
  if (plan.idsPerSecond < idsPerSecond)
    misses.push(`One process issues ${plan.idsPerSecond} IDs a second, not ${idsPerSecond}.`);
  if (plan.workers.count < processes) misses.push(`It has ${plan.workers.count} workers for ${processes} processes.`);
  if (endsBefore(plan.expiresAt)) misses.push(`It ends on ${plan.expiresAt.slice(0, 10)}, within ${years} years.`);
  if (numbers && endsBefore(plan.safeUntil)) {
    misses.push(`From ${plan.safeUntil.slice(0, 10)} on, JavaScript numbers round its IDs: keep them as strings.`);
  }
  return misses;
}

/** A layout that is to be checked against the needs. */
interface AdvisedShape {
  readonly name: 'default' | 'number' | 'fitted' | 'milliseconds';
  readonly options: LayoutOptions;
  /** Its advantages, a sentence each. */
  readonly reasons: readonly string[];
}

/** The epoch of the shapes `default` and `number`. */
const USUAL_EPOCH = '2026-01-01';

/** A leap year: enough for every year. */
const YEAR_MS = 366 * 86_400_000;
const MAX_WORKER_BITS = 10;

/** The shapes to check: those that the documents use, and one for each unit that is cut to the needs. */
function adviseShapes(needs: Needs, nowMs: number): readonly AdvisedShape[] {
  const usual = needs.numbers ? [numberShape(), defaultShape()] : [defaultShape()];
  return [...usual, ...fittedShape(needs, nowMs, 'second'), ...fittedShape(needs, nowMs, 'millisecond')];
}

function defaultShape(): AdvisedShape {
  const bits = { timeUnit: 'second', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 } as const;
  return {
    name: 'default',
    options: { startTimeStamp: USUAL_EPOCH, ...bits },
    reasons: ['It is the default: forRoot() needs no layout option.'],
  };
}

function numberShape(): AdvisedShape {
  const bits = { timeUnit: 'second', timeStampLength: 40, workIdLength: 8, endBitsLength: 1 } as const;
  return {
    name: 'number',
    options: { startTimeStamp: USUAL_EPOCH, ...bits },
    reasons: ["It needs one option: layout: 'number'."],
  };
}

/** As few bits for time and workers as suffice, all others for the sequence. Empty where 63 bits do not suffice. */
function fittedShape(needs: Needs, nowMs: number, timeUnit: 'second' | 'millisecond'): readonly AdvisedShape[] {
  const { ms, minTimestampBits, maxTimestampBits } = TIME_UNITS[timeUnit];
  // One year more: the epoch is the first day of the present year.
  const timeBits = Math.ceil(Math.log2(((needs.years + 1) * YEAR_MS) / ms));
  // An exact number has 53 bits: the highest ten of 63 stay zero.
  const timeStampLength = Math.max(needs.numbers ? timeBits + 10 : timeBits, minTimestampBits);
  const workIdLength = workerBitsFor(needs.processes);
  const sequenceBits = 63 - timeStampLength - workIdLength - 2;
  if (timeStampLength > maxTimestampBits || sequenceBits < 1) return [];
  const options = { timeUnit, startTimeStamp: epochAt(nowMs), timeStampLength, workIdLength, endBitsLength: 1 };
  const room = `It has ${2 ** workIdLength - 1} workers; the remaining bits allow ${2 ** sequenceBits} IDs a ${timeUnit}.`;
  const order = 'IDs of several processes are ordered to the millisecond, as far as their clocks agree.';
  return [
    timeUnit === 'second'
      ? { name: 'fitted', options, reasons: [room] }
      : { name: 'milliseconds', options, reasons: [order, room] },
  ];
}

/** Twice as many workers as processes, so that a rolling deploy finds free ones; ten bits at most. */
function workerBitsFor(processes: number): number {
  return Math.min(MAX_WORKER_BITS, Math.max(3, Math.ceil(Math.log2(2 * processes + 1))));
}

/** The first day of the present year. */
function epochAt(nowMs: number): string {
  return `${new Date(nowMs).getUTCFullYear()}-01-01`;
}
