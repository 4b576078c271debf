import { MAX_DATE_MS, Timeline } from '../time/timeline.js';
import { ConfigurationError } from '../config/option-reader.js';
import { toId, toUnsignedId } from '../codec/to-id.js';
import { InvalidPartError, TimestampOverflowError } from './layout-errors.js';

/**
 * The role of a field says which part of an ID it holds.
 *
 * Several `worker` fields (a data centre and a machine, say) make one worker number: the first field is its highest bits.
 */
export type FieldRole = 'time' | 'worker' | 'clockBack' | 'sequence' | 'fixed';

/** A run of bits of an ID. */
export interface Field {
  readonly name: string;
  readonly role: FieldRole;
  /** Its width, 1 or more. */
  readonly bits: number;
  /** The value of a `fixed` field. */
  readonly value?: number;
}

/** A field with its place: `id = sum of value << shift`. */
export interface PlacedField extends Field {
  readonly shift: number;
}

/** The parts that make a layout. */
export interface LayoutShape {
  /** From the most significant bits down: the `time` field first, one `sequence` field, 64 bits at most. */
  readonly fields: readonly Field[];
  readonly unitMs: number;
  /** The epoch, Unix ms. */
  readonly epochMs: number;
}

/** The parts of an ID, as numbers. Example: worker 7's first ID of tick 86,400 has `sequence` 0. */
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
 * It packs and unpacks any list of fields of up to 64 bits. The narrower rules of raindrop's own layouts are those of
 * {@link createLayout}.
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
  /** The difference between the IDs of two neighbouring sequences. Example: 2 with one end bit. */
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
  /** Unit, epoch tick and fields as a short stable text: two layouts with one text make the same IDs. */
  readonly fingerprint: string;

  /** @throws ConfigurationError when no IDs can be made of the shape */
  constructor(shape: LayoutShape) {
    requireShape(shape);
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
    this.maxSequence = powerOfTwo(sequence.bits) - 1;
    this.idsPerTick = this.maxSequence + 1;
    this.idsPerSecond = (this.idsPerTick * 1_000) / this.unitMs;
    this.hasClockBack = this.fields.some((field) => field.role === 'clockBack');
    this.sequenceStep = powerOfTwo(sequence.shift);
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
   * Returns the parts of an ID. The fixed bits are reported, not checked: IDs with other end bits unpack as well.
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
   * Tells whether the fixed low bits keep the IDs of the two layouts apart: both have some, and these differ in the bits
   * that both have. Example: end bits 0 and 1. Without fixed low bits on both sides it is false.
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

  /** Returns the largest value below the next tick's {@link idFloor}: every worker, lane and end bits are below it. */
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

/** Gives every field its shift. */
function placeFields(fields: readonly Field[]): readonly PlacedField[] {
  let shift = fields.reduce((sum, field) => sum + field.bits, 0);
  return fields.map((field) => ({ ...field, shift: (shift -= field.bits) }));
}

function part(name: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 0 || value > max) throw new InvalidPartError(name, value, max);
  return value;
}

/** An ID and its parts. */
export interface ParsedId extends LayoutParts {
  readonly id: bigint;
  /** The start of the ID's tick. */
  readonly time: Date;
}

/**
 * Takes an ID apart. A layout of 64 bits has unsigned IDs, up to 2^64 - 1.
 * @throws InvalidIdError when `id` is not a bigint, a canonical decimal string or a safe number in range
 * @throws TimestampOverflowError when its time lies beyond what a Date can hold
 */
export function parseId(layout: Layout, id: bigint | string | number): ParsedId {
  const value = layout.bits > 63 ? toUnsignedId(id) : toId(id);
  const parts = layout.unpack(value);
  return { id: value, time: new Date(layout.timeline.startOf(parts.tick)), ...parts };
}

/** The letter of each role in a fingerprint. */
const LETTER: Readonly<Record<FieldRole, string>> = {
  time: 't',
  worker: 'w',
  clockBack: 'b',
  sequence: 's',
  fixed: 'e',
};
const ROLE = Object.fromEntries(Object.entries(LETTER).map(([role, letter]) => [letter, role])) as Record<
  string,
  FieldRole
>;

/** The names for the fields of a fingerprint, which holds none: those of raindrop's own layouts. */
const NAME: Readonly<Record<FieldRole, string>> = {
  time: 'timestamp',
  worker: 'worker',
  clockBack: 'clockBack',
  sequence: 'sequence',
  fixed: 'end',
};

/**
 * A layout as a short stable text: `1000@1672531200:t33.w10.b1.s18.e1=0` is the unit in ms, the epoch's tick and the
 * fields from the top with their widths, fixed ones with their value. The fields' names are not part of it.
 */
function fingerprintOf(layout: {
  readonly unitMs: number;
  readonly timeline: { readonly epochTick: number };
  readonly fields: readonly Field[];
}): string {
  const fields = layout.fields.map(
    ({ role, bits, value }) => `${LETTER[role]}${bits}${role === 'fixed' ? `=${value ?? 0}` : ''}`,
  );
  return `${layout.unitMs}@${layout.timeline.epochTick}:${fields.join('.')}`;
}

/**
 * Returns the layout that a fingerprint stands for; undefined when the text is not one. A text is read only when the
 * layout would write the same text: the worker lease decides by it whether two layouts can produce the same ID.
 */
export function shapeOfFingerprint(fingerprint: string): LayoutShape | undefined {
  const match = /^(\d{1,12})@(-?\d{1,16}):([twbse\d.=]{1,200})$/.exec(fingerprint);
  if (match === null) return undefined;
  const fields = match[3]!.split('.').map((text): Field => {
    const [head, value] = text.split('=') as [string, string | undefined];
    const role = ROLE[head.charAt(0)]!;
    return {
      name: NAME[role],
      role,
      bits: Number(head.slice(1)),
      ...(value !== undefined && { value: Number(value) }),
    };
  });
  const unitMs = Number(match[1]);
  const shape = { fields, unitMs, epochMs: Number(match[2]) * unitMs };
  if (shapeProblem(shape) !== undefined) return undefined;
  return fingerprintOf({ ...shape, timeline: new Timeline(unitMs, shape.epochMs) }) === fingerprint ? shape : undefined;
}

/** @throws ConfigurationError when no IDs can be made of the shape */
function requireShape(shape: LayoutShape): void {
  const problem = shapeProblem(shape);
  if (problem === undefined) return;
  const given = shape.fields.map(({ name, bits }) => `${name} ${bits}`).join(' / ');
  throw new ConfigurationError([{ option: 'layout', given, message: problem }]);
}

/** Why no IDs can be made of a shape; undefined when they can. */
function shapeProblem({ fields, unitMs, epochMs }: LayoutShape): string | undefined {
  const widths = (role: FieldRole): number[] => fields.filter((each) => each.role === role).map(({ bits }) => bits);
  const sum = (bits: readonly number[]): number => bits.reduce((total, each) => total + each, 0);

  // A field above the time would put IDs outside the ranges that follow from a tick: idFloor, safeTicks.
  if (fields[0]?.role !== 'time' || widths('time').length !== 1) return 'must begin with its only time field';
  if (widths('sequence').length !== 1) return 'must have exactly one sequence field';
  if (!['', '1'].includes(widths('clockBack').join())) return 'must have at most one clock-back field, of 1 bit';
  if (!fields.every(({ bits }) => isIntegerIn(bits, 1, 64))) return 'must have fields of 1 bit or more';
  if (sum(fields.map(({ bits }) => bits)) > 64) return 'must not have more than 64 bits';
  if (Math.max(sum(widths('worker')), sum(widths('sequence')), sum(widths('fixed'))) > 53) {
    return 'must limit worker, sequence and fixed fields to 53 bits each: they are JavaScript numbers';
  }
  if (!fields.every(hasFittingValue)) return 'must give its fixed fields values that fit into their bits';
  if (!isIntegerIn(unitMs, 1, MAX_DATE_MS)) return 'must have a unit of whole milliseconds, at least 1';
  if (!isIntegerIn(epochMs, -MAX_DATE_MS, MAX_DATE_MS)) return 'must have an epoch in Unix ms that a Date can hold';
  return undefined;
}

function hasFittingValue({ role, bits, value = 0 }: Field): boolean {
  return role !== 'fixed' || isIntegerIn(value, 0, 2 ** bits - 1);
}

/**
 * 2 to the power of `bits`. V8 keeps the result of `**` as a floating-point number, and so every sequence that is compared
 * with it or begins from it: half a nanosecond an ID. A shift gives a small integer, as far as it reaches.
 */
function powerOfTwo(bits: number): number {
  return bits < 31 ? 1 << bits : 2 ** bits;
}

function isIntegerIn(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

/**
 * Returns the layout that was given. One that another copy of this package made becomes a layout of this copy's class.
 * @returns undefined for a value that is no layout, and for a layout that this version cannot hold
 */
export function layoutOfAnyCopy(given: unknown): Layout | undefined {
  if (given instanceof Layout) return given;
  try {
    // A layout is its fields, its unit and its epoch, and all three are public.
    const foreign = given as Layout;
    const layout = new Layout(foreign);
    return layout.fingerprint === foreign.fingerprint ? layout : undefined;
  } catch {
    return undefined;
  }
}
