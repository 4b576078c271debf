import type { IdBatchSource } from '../../../libs/core/src/prefetch/batch-policy.js';
import type { PrefetchOptions } from '../../../libs/core/src/prefetch/prefetch-options.js';
import { PrefetchedIds } from '../../../libs/core/src/prefetch/prefetched-ids.js';
import { type Fault, meet } from './fault-store.js';
import { VirtualTime } from './virtual-time.js';

/** One call of the source. */
export interface Request {
  readonly count: number;
  readonly code: string | undefined;
  readonly askedAt: number;
  isUnderWay: boolean;
  /** What it issued; undefined while it has not. */
  ids: readonly bigint[] | undefined;
  /** Whether the answer arrived. */
  isAnswered: boolean;
}

/** Issues 1, 2, 3, ... for each code, with faults on the way. */
export class FaultIdSource implements IdBatchSource {
  readonly name = 'a test';
  readonly requests: Request[] = [];
  /** At most so many for a request. */
  most = Number.POSITIVE_INFINITY;
  /** Decides what happens to a call when no fault is lined up for it. */
  faultFor: () => Fault | undefined = () => undefined;
  /** The next calls meet these, one each. */
  readonly next: (Fault | undefined)[] = [];
  private readonly highest = new Map<string | undefined, bigint>();

  /** @param network whose time passes also while the process stands still */
  constructor(private readonly network: VirtualTime) {}

  async take(count: number, code?: string): Promise<readonly bigint[]> {
    const askedAt = this.network.monotonicMs;
    const request: Request = { count, code, askedAt, isUnderWay: true, ids: undefined, isAnswered: false };
    this.requests.push(request);
    try {
      const fault = this.next.length > 0 ? this.next.shift() : this.faultFor();
      const ids = await meet(fault, this.network, () => this.issue(request));
      request.isAnswered = true;
      return ids;
    } finally {
      request.isUnderWay = false;
    }
  }

  /** The requests for a code, by their counts. */
  counts(code?: string): number[] {
    return this.requests.filter((each) => each.code === code).map(({ count }) => count);
  }

  private issue(request: Request): readonly bigint[] {
    const from = this.highest.get(request.code) ?? 0n;
    const length = Math.min(request.count, this.most);
    this.highest.set(request.code, from + BigInt(length));
    return (request.ids = Array.from({ length }, (_, index) => from + 1n + BigInt(index)));
  }
}

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
