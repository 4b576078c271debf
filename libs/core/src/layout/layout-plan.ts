import { TIME_UNITS, type TimeUnit } from '../time/time-unit.js';
import type { FieldRole } from './field.js';
import { resolveLayout, type LayoutOptions } from './layout-options.js';
import type { ResolvedLayout, WorkerRange } from './layout-usage.js';
import type { LayoutWarning } from './layout-warnings.js';

/** A run of bits of an ID, as in `(id >> shift) & (2^bits - 1)`. */
export interface PlannedField {
  readonly name: string;
  readonly role: FieldRole;
  readonly bits: number;
  readonly shift: number;
  /** What a `fixed` field always holds; null for every other role. */
  readonly value: number | null;
}

/**
 * What a layout comes to, for people and for JSON: plain numbers, texts and nulls, nothing that `JSON.stringify` would
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
  /** Of one worker, on one lane and under one code. */
  readonly idsPerTick: number;
  /** {@link idsPerTick} over the tick's length: a fraction for coarse units. */
  readonly idsPerSecond: number;
  /** The service's worker ids, both ends included, and how many they are. */
  readonly workers: WorkerRange & { readonly count: number };
  readonly warnings: readonly LayoutWarning[];
}

/**
 * Plans a layout from options without issuing anything.
 * @param nowMs the present, against which the epoch and the remaining life are judged; Unix ms, by default this moment's
 * @throws ConfigurationError naming every option that is wrong; `minLifetimeDays: 0` lets a layout pass that ends soon
 */
export function planLayout(options: LayoutOptions, nowMs = Date.now()): LayoutPlan {
  return planOf(resolveLayout(options, nowMs));
}

/** The plan of a layout that is already there, a preset's for example. */
export function planOf({ layout, workers, warnings }: ResolvedLayout): LayoutPlan {
  const units = Object.keys(TIME_UNITS) as TimeUnit[];
  return {
    fields: layout.fields.map(({ name, role, bits, shift, value }) => ({
      ...{ name, role, bits, shift },
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
