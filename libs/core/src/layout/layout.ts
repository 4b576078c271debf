import { MAX_DATE_MS, Timeline } from '../time/timeline.js';
import { placeFields, type Field, type FieldRole, type PlacedField } from './field.js';
import { fingerprintOf } from './fingerprint.js';
import { InvalidPartError, TimestampOverflowError } from './layout-errors.js';
import type { LayoutShape } from './layout-shape.js';
import { refuseShape } from './shape-problem.js';

/** The parts of an ID, as numbers. */
export interface LayoutParts {
  /** Ticks since the epoch's tick. */
  readonly tick: number;
  readonly workerId: number;
  /** The clock-back bit; 0 in layouts without one. */
  readonly clockBack: number;
  readonly sequence: number;
  /** The fixed low bits; 0 in layouts without them. */
  readonly endBits: number;
}

const YEAR_MS = 365 * 86_400_000;

/**
 * Knows where each part of an ID lies, what time a tick stands for, and what follows from both: lifetimes, capacity,
 * ranges.
 *
 * It packs and unpacks any list of fields of up to 64 bits; which lists are sensible is decided by who makes it (see
 * {@link createLayout} for raindrop's own rules).
 */
export class Layout {
  readonly fields: readonly PlacedField[];
  readonly timeline: Timeline;
  readonly epochMs: number;
  readonly unitMs: number;
  /** All bits of an ID, without the sign bit. */
  readonly bits: number;
  /** The largest tick that can be issued: the timestamp's last, or the last one that a Date can hold. */
  readonly maxTick: number;
  readonly maxWorkerId: number;
  readonly maxSequence: number;
  /** IDs that one worker can issue in a tick, on one lane and under one code. */
  readonly idsPerTick: number;
  readonly idsPerSecond: number;
  /** Workers when ids run from 1; one more when the range names 0. */
  readonly maxWorkers: number;
  /** True when there is a clock-back bit: two lanes for each worker. */
  readonly hasClockBack: boolean;
  /** What two neighbouring sequences differ by in the ID. */
  readonly sequenceStep: number;
  /** Bits below the timestamp. */
  readonly lowBits: number;
  /** Years of 365 days from the epoch to {@link expiresAt}. */
  readonly lifetimeYears: number;
  /** The first moment without IDs; null when it lies beyond what a Date can hold. */
  readonly expiresAt: Date | null;
  /** The first moment whose IDs may pass 2^53 - 1; null when it lies beyond what a Date can hold. */
  readonly safeUntil: Date | null;
  /** Ticks below this one give IDs up to 2^53 - 1 only. */
  readonly safeTicks: number;
  /** Unit, epoch tick and fields as a short stable text: equal texts, equal layouts. */
  readonly fingerprint: string;

  /** @throws ConfigurationError when no IDs can be made of the shape */
  constructor(shape: LayoutShape) {
    refuseShape(shape);
    this.fields = placeFields(shape.fields);
    this.unitMs = shape.unitMs;
    this.epochMs = shape.epochMs;
    this.timeline = new Timeline(shape.unitMs, shape.epochMs);
    const time = this.fields[0]!;
    const sequence = this.fields.find((field) => field.role === 'sequence')!;
    this.bits = this.widthOf(() => true);
    this.lowBits = time.shift;
    this.maxWorkerId = 2 ** this.widthOf((field) => field.role === 'worker') - 1;
    this.maxWorkers = this.maxWorkerId;
    this.maxSequence = 2 ** sequence.bits - 1;
    this.idsPerTick = this.maxSequence + 1;
    this.idsPerSecond = (this.idsPerTick * 1_000) / this.unitMs;
    this.hasClockBack = this.fields.some((field) => field.role === 'clockBack');
    this.sequenceStep = 2 ** sequence.shift;
    // A 64-bit layout (an unsigned one) issues the lower half of its range only.
    const ticks = 2 ** Math.min(time.bits, 63 - this.lowBits);
    this.maxTick = Math.min(ticks - 1, this.timeline.lastTick);
    this.lifetimeYears = (ticks * this.unitMs) / YEAR_MS;
    this.expiresAt = this.timeline.dateOf(ticks);
    this.safeTicks = Math.min(ticks, Math.floor(2 ** (53 - this.lowBits)));
    this.safeUntil = this.timeline.dateOf(this.safeTicks);
    this.fingerprint = fingerprintOf(this);
    Object.freeze(this);
  }

  /**
   * Makes the ID of these parts. `endBits` defaults to the layout's own value.
   * @throws InvalidPartError when a part does not fit its field
   * @throws TimestampOverflowError when the tick is past {@link maxTick}
   */
  pack(parts: Omit<LayoutParts, 'endBits'> & { readonly endBits?: number }): bigint {
    if (Number.isInteger(parts.tick) && parts.tick > this.maxTick) {
      throw new TimestampOverflowError(parts.tick, this.maxTick);
    }
    const maxEndBits = 2 ** this.widthOf((field) => field.role === 'fixed') - 1;
    const values: Record<FieldRole, number> = {
      time: part('tick', parts.tick, this.maxTick),
      worker: part('workerId', parts.workerId, this.maxWorkerId),
      clockBack: part('clockBack', parts.clockBack, this.hasClockBack ? 1 : 0),
      sequence: part('sequence', parts.sequence, this.maxSequence),
      fixed: part('endBits', parts.endBits ?? this.endBitsValue, maxEndBits),
    };
    // Fields of one role share its number, low bits last: walk up from the least significant field.
    return this.fields.reduceRight((id, field) => {
      const size = 2 ** field.bits;
      const value = values[field.role] % size;
      values[field.role] = Math.floor(values[field.role] / size);
      return id | (BigInt(value) << BigInt(field.shift));
    }, 0n);
  }

  /**
   * Returns the parts of an ID, whoever issued it: the fixed bits are reported, not checked.
   * @throws TimestampOverflowError when its tick lies beyond what a Date can hold
   * @throws InvalidPartError when it is not a bigint, is negative or has more bits than this layout
   */
  unpack(id: bigint): LayoutParts {
    if (typeof id !== 'bigint' || BigInt.asUintN(this.bits, id) !== id) {
      throw new InvalidPartError('id', id, (1n << BigInt(this.bits)) - 1n);
    }
    const values: Record<FieldRole, number> = { time: 0, worker: 0, clockBack: 0, sequence: 0, fixed: 0 };
    for (const { role, bits, shift } of this.fields) {
      const value = Number((id >> BigInt(shift)) & ((1n << BigInt(bits)) - 1n));
      values[role] = values[role] * 2 ** bits + value;
    }
    if (values.time > this.timeline.lastTick) throw new TimestampOverflowError(values.time, this.maxTick);
    return {
      tick: values.time,
      workerId: values.worker,
      clockBack: values.clockBack,
      sequence: values.sequence,
      endBits: values.fixed,
    };
  }

  /** Returns the value of the fixed bits. */
  get endBitsValue(): number {
    return this.fields.reduce(
      (value, field) => (field.role === 'fixed' ? value * 2 ** field.bits + (field.value ?? 0) : value),
      0,
    );
  }

  /**
   * Tells whether no ID of the two layouts can be equal: the lowest bits are fixed in both, and differ in those that
   * both have fixed. Without fixed low bits on both sides it is never true.
   */
  disjointFrom(other: Layout): boolean {
    const [mine, theirs] = [this.lowestFixed(), other.lowestFixed()];
    if (mine === undefined || theirs === undefined) return false;
    const shared = 2 ** Math.min(mine.bits, theirs.bits);
    return (mine.value ?? 0) % shared !== (theirs.value ?? 0) % shared;
  }

  /**
   * Returns the smallest ID that any worker can issue at `date`; dates outside the layout's life are clamped to it.
   * @throws InvalidPartError when it is an invalid Date or NaN
   */
  idFloor(date: Date | number): bigint {
    return BigInt(this.clampedTick(date)) << BigInt(this.lowBits);
  }

  /** Returns the largest value below the next tick's {@link idFloor}: whatever worker, lane and end bits. */
  idCeil(date: Date | number): bigint {
    return this.idFloor(date) | ((1n << BigInt(this.lowBits)) - 1n);
  }

  private clampedTick(date: Date | number): number {
    const ms = typeof date === 'number' ? date : date.getTime();
    if (Number.isNaN(ms)) throw new InvalidPartError('date', date, MAX_DATE_MS, 'a Date or Unix ms');
    return Math.min(Math.max(this.timeline.tickAt(ms), 0), this.maxTick);
  }

  private lowestFixed(): PlacedField | undefined {
    return this.fields.find((field) => field.shift === 0 && field.role === 'fixed');
  }

  private widthOf(which: (field: Field) => boolean): number {
    return this.fields.reduce((sum, field) => (which(field) ? sum + field.bits : sum), 0);
  }
}

function part(name: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 0 || value > max) throw new InvalidPartError(name, value, max);
  return value;
}
