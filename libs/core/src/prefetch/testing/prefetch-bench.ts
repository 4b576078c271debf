import { VirtualTime } from '../../testing/virtual-time.js';
import type { PrefetchOptions } from '../prefetch-options.js';
import { PrefetchedIds } from '../prefetched-ids.js';
import { FaultIdSource } from './fault-id-source.js';

/** A process that prefetches IDs from a source with faults. */
export class PrefetchBench {
  readonly time = new VirtualTime(0);
  readonly source = new FaultIdSource(this.time.another());
  readonly ids: PrefetchedIds;

  constructor(options?: PrefetchOptions) {
    this.ids = new PrefetchedIds(this.source, this.time, options);
  }

  /** One that has IDs at hand. */
  static async started(options?: PrefetchOptions): Promise<PrefetchBench> {
    const bench = new PrefetchBench(options);
    await bench.ids.start();
    return bench;
  }

  /** So many IDs, taken one by one. */
  take(count: number): bigint[] {
    return Array.from({ length: count }, () => this.ids.nextId());
  }
}
