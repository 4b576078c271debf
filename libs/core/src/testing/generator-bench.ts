import type { GeneratorOptions } from '../generator/generator-options.js';
import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import type { Layout } from '../layout/layout.js';
import { ManualTenure, type TenureState } from './manual-tenure.js';
import { tinyLayout, type TinyLayoutOptions } from './tiny-layout.js';
import { VirtualTime } from './virtual-time.js';

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
