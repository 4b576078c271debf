import type { Fault } from '../../testing/fault-store.js';
import type { VirtualTime } from '../../testing/virtual-time.js';
import type { IdBatchSource } from '../id-batch-source.js';

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
      const ids = await this.meet(this.next.length > 0 ? this.next.shift() : this.faultFor(), request);
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

  private async meet(fault: Fault | undefined, request: Request): Promise<readonly bigint[]> {
    switch (fault?.kind) {
      case undefined:
        return this.issue(request);
      case 'refused':
        throw new Error('connect ECONNREFUSED');
      case 'answer-lost':
        this.issue(request);
        throw new Error('read ECONNRESET');
      case 'hangs':
        return new Promise(() => undefined);
      case 'ghost':
        await this.wait(fault.afterMs);
        this.issue(request);
        return new Promise(() => undefined);
      case 'slow':
        await this.wait(fault.thereMs);
        this.issue(request);
        await this.wait(fault.backMs);
        return request.ids!;
    }
  }

  private issue(request: Request): readonly bigint[] {
    const from = this.highest.get(request.code) ?? 0n;
    const length = Math.min(request.count, this.most);
    this.highest.set(request.code, from + BigInt(length));
    return (request.ids = Array.from({ length }, (_, index) => from + 1n + BigInt(index)));
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.network.setTimer(resolve, ms));
  }
}
