import type { WordChanges } from '../../../libs/core/src/ring/ring-memory.js';
import { RingCursor } from '../../../libs/core/src/ring/ring-cursor.js';
import type { GeneratorOptions } from '../../../libs/core/src/generator/generator-options.js';
import { SnowflakeGenerator } from '../../../libs/core/src/generator/snowflake-generator.js';
import type { Layout } from '../../../libs/core/src/layout/layout.js';
import { SharedIds } from '../../../libs/core/src/ring/shared-ids.js';
import { SharedIdRing } from '../../../libs/core/src/ring/shared-id-ring.js';
import type { RingPorts, SharedIdRingOptions, SharedIdsOptions } from '../../../libs/core/src/ring/ring-options.js';
import { settle, VirtualTime } from './virtual-time.js';
import { ManualTenure, tinyLayout } from './generator-bench.js';

/** Changes of shared words that are heard of when a test says so. */
export class ManualChanges implements WordChanges {
  private listeners: { readonly isOver: () => boolean; readonly tell: () => void }[] = [];

  get listening(): number {
    return this.listeners.length;
  }

  changed(words: Int32Array, index: number, value: number): Promise<void> {
    return new Promise((tell) => this.listeners.push({ isOver: () => Atomics.load(words, index) !== value, tell }));
  }

  /** Lets everybody hear of what has changed. */
  async spread(): Promise<void> {
    const over = this.listeners.filter(({ isOver }) => isOver());
    this.listeners = this.listeners.filter((each) => !over.includes(each));
    for (const { tell } of over) tell();
    await settle();
  }
}

/**
 * The negative control: reads the slots after it has moved the head, the order of uid-generator's RingBuffer. From the
 * move on the producer may write over them.
 */
export class LateCursor extends RingCursor {
  protected override claim(): boolean {
    const { memory } = this;
    for (;;) {
      const { head } = memory;
      const left = memory.tail - head;
      const count = Math.min(left, this.run.length);
      if (left - count < memory.slots.length / 2) memory.demand();
      if (count === 0) return false;
      if (!memory.moveHead(head, head + count)) continue;
      this.copy(head, count);
      this.hold(count);
      return true;
    }
  }
}

interface RingBenchOptions {
  readonly ring?: SharedIdRingOptions;
  readonly layout?: Layout;
  readonly generator?: GeneratorOptions;
  readonly tenure?: ManualTenure;
}

/** A ring, its generator and any number of takers in one thread, with everything around them under a test's control. */
export class RingBench {
  readonly time = new VirtualTime(1_000_000_000);
  readonly tenure: ManualTenure;
  readonly generator: SnowflakeGenerator;
  readonly changes = new ManualChanges();
  readonly warnings: string[] = [];
  readonly ring: SharedIdRing;

  constructor({ ring, layout, generator, tenure }: RingBenchOptions = {}) {
    this.tenure = tenure ?? new ManualTenure();
    this.generator = new SnowflakeGenerator(
      { layout: layout ?? tinyLayout({ sequenceBits: 20, timeBits: 38 }), tenure: this.tenure, options: generator },
      this.time,
    );
    this.ring = new SharedIdRing(this.generator, ring, this.ports());
  }

  ports(more: Partial<RingPorts> = {}): RingPorts {
    const { clock, monotonic, timers } = this.time;
    const warn = (message: string): void => void this.warnings.push(message);
    return { clock, monotonic, timers, changes: this.changes, warn, ...more };
  }

  /** Another thread, as it were. */
  taker(options?: SharedIdsOptions, more?: Partial<RingPorts>): SharedIds {
    return new SharedIds(this.ring.handle, options, this.ports(more));
  }

  /** How old an ID is, ms; negative when it is ahead of the clock. */
  ageOf(id: bigint): number {
    return this.time.wall - this.generator.parse(id).time.getTime();
  }
}
