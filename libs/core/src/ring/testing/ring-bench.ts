import type { GeneratorOptions } from '../../generator/generator-options.js';
import { SnowflakeGenerator } from '../../generator/snowflake-generator.js';
import type { Layout } from '../../layout/layout.js';
import { ManualTenure } from '../../testing/manual-tenure.js';
import { tinyLayout } from '../../testing/tiny-layout.js';
import { VirtualTime } from '../../testing/virtual-time.js';
import { SharedIds } from '../shared-ids.js';
import { SharedIdRing } from '../shared-id-ring.js';
import type { RingPorts, SharedIdRingOptions, SharedIdsOptions } from '../ring-options.js';
import { ManualChanges } from './manual-changes.js';

export interface RingBenchOptions {
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
