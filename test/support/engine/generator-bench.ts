import { type Field, Layout } from '../../../libs/core/src/layout/layout.js';
import {
  AFTER_ALL,
  BEFORE_ALL,
  type Lane,
  type PerLane,
  type Position,
  type Tenure,
} from '../../../libs/core/src/generator/tenure.js';
import type { RaindropError } from '../../../libs/core/src/raindrop-error.js';
import type { GeneratorOptions } from '../../../libs/core/src/generator/generator-options.js';
import { SnowflakeGenerator } from '../../../libs/core/src/generator/snowflake-generator.js';
import { VirtualTime } from './virtual-time.js';

interface TinyLayoutOptions {
  /** Default 1. */
  unitMs?: number;
  /** Default 2: four IDs in a tick. */
  sequenceBits?: number;
  /** Default true. */
  clockBack?: boolean;
  /** Default 44, or what is left of 63. */
  timeBits?: number;
  /** Default 0. */
  endBits?: number;
  /** Default 0: then ticks count from 1970. */
  epochMs?: number;
}

/** A layout with so few sequences that a test can use up a tick; 3 worker bits. */
export function tinyLayout(options: TinyLayoutOptions = {}): Layout {
  const { unitMs = 1, sequenceBits = 2, clockBack = true, endBits = 0, epochMs = 0 } = options;
  const { timeBits = Math.min(44, 59 - sequenceBits - endBits) } = options;
  const fields: Field[] = [
    { name: 'timestamp', role: 'time', bits: timeBits },
    { name: 'worker', role: 'worker', bits: 3 },
  ];
  if (clockBack) fields.push({ name: 'clockBack', role: 'clockBack', bits: 1 });
  fields.push({ name: 'sequence', role: 'sequence', bits: sequenceBits });
  if (endBits > 0) fields.push({ name: 'end', role: 'fixed', bits: endBits, value: 2 ** endBits - 1 });
  return new Layout({ fields, unitMs, epochMs });
}

/** What a test may set. */
type TenureState = Pick<Tenure, 'workerId' | 'number' | 'lane' | 'base' | 'limit' | 'renewThreshold' | 'flipping'> & {
  readonly refusal: RaindropError | undefined;
};

/** A tenure under a test's control: it grants what it is told to and writes down what it is asked for. */
export class ManualTenure implements Tenure {
  workerId = 1;
  number = 1;
  lane: Lane = 0;
  base: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];
  limit: PerLane<Position> = [AFTER_ALL, AFTER_ALL];
  renewThreshold: PerLane<Position> = [AFTER_ALL, AFTER_ALL];
  flipping = false;
  refusal: RaindropError | undefined;

  /** `extension`, `flip 0` and `flip 1`, in the order of asking. */
  readonly requests: string[] = [];
  /** The values of the clock that were shown. */
  readonly seen: number[] = [];
  private listener: () => void = () => undefined;

  constructor(state: Partial<TenureState> = {}) {
    Object.assign(this, state);
  }

  /** Changes what is granted and tells the generator. */
  change(state: Partial<TenureState>): void {
    Object.assign(this, state);
    this.listener();
  }

  admit(wallMs: number): RaindropError | undefined {
    this.seen.push(wallMs);
    return this.refusal;
  }

  requestExtension(): void {
    this.requests.push('extension');
  }

  requestFlip(lane: Lane): void {
    this.requests.push(`flip ${lane}`);
  }

  onChange(listener: () => void): void {
    this.listener = listener;
  }
}

export interface BenchOptions extends TinyLayoutOptions {
  /** Instead of a tiny one. */
  layout?: Layout;
  /** The wall clock, default 1,000,000 ms: tick 1,000,000 of a millisecond layout, 1,000 of one of seconds. */
  wall?: number | string;
  seed?: number;
  /** How the generator is to behave. */
  options?: GeneratorOptions;
  /** What is granted; everything by default. */
  tenure?: Partial<TenureState>;
}

/** A generator with everything around it under a test's control. */
export class GeneratorBench {
  readonly layout: Layout;
  readonly time: VirtualTime;
  readonly tenure: ManualTenure;
  readonly generator: SnowflakeGenerator;

  constructor(options: BenchOptions = {}) {
    this.layout = options.layout ?? tinyLayout(options);
    this.time = new VirtualTime(options.wall ?? 1_000_000, options.seed);
    this.tenure = new ManualTenure(options.tenure);
    const setup = { layout: this.layout, tenure: this.tenure, options: options.options };
    this.generator = new SnowflakeGenerator(setup, this.time);
  }

  /** Where an ID lies, as `tick:lane:sequence`. */
  at(id: bigint | string | number): string {
    const { tick, clockBack, sequence } = this.layout.unpack(BigInt(id));
    return `${tick}:${clockBack}:${sequence}`;
  }

  /** Where the next ID of a code lies. */
  next(code?: string): string {
    return this.at(this.generator.nextId(code));
  }

  /** Where the next IDs lie, taken one by one. */
  take(count: number, code?: string): string[] {
    return Array.from({ length: count }, () => this.next(code));
  }
}

/** The error that a call throws. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new TypeError('The call was expected to throw.');
}
