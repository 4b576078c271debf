import { OptionReader } from '../config/option-reader.js';
import { TIME_UNITS, type TimeUnit } from '../time/time-unit.js';
import { readAnyLayout, type ReadyLayoutOptions } from './any-layout.js';
import type { FieldRole } from './field.js';
import { refuseShortLife, type LayoutOptions } from './layout-options.js';
import type { WorkerRange } from './layout-usage.js';
import type { LayoutWarning } from './layout-warnings.js';
import { wallClock } from '../time/wall-clock.js';

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
  /** Of one worker, on one lane and under one code. */
  readonly idsPerTick: number;
  /** {@link idsPerTick} over the tick's length: a fraction for coarse units. */
  readonly idsPerSecond: number;
  /** The service's worker ids, both ends included, and how many they are. */
  readonly workers: WorkerRange & { readonly count: number };
  readonly warnings: readonly LayoutWarning[];
}

/**
 * Plans a layout without issuing anything: from its options, or a ready one with how it is used.
 * @param nowMs the present, against which the epoch and the remaining life are judged; Unix ms, by default this moment's
 * @throws ConfigurationError naming every option that is wrong. Options of a layout that ends soon are wrong unless
 * `minLifetimeDays` lets it pass; a ready layout has a warning then.
 */
export function planLayout(options: LayoutOptions | ReadyLayoutOptions, nowMs = wallClock.now()): LayoutPlan {
  const reader = new OptionReader(options);
  const resolved = readAnyLayout(reader, nowMs);
  if (resolved !== undefined && reader.value('layout') === undefined) refuseShortLife(reader, resolved, nowMs);
  reader.finish();
  const { layout, workers, warnings } = resolved!;
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
