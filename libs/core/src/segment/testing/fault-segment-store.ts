import { meet, never, type Fault } from '../../testing/fault.js';
import type { VirtualTime } from '../../testing/virtual-time.js';
import { MemorySegmentStore, type MemorySegmentOptions, type MemorySegmentTable } from '../memory-segment-store.js';
import type { ReservedSegment, Segment, SegmentRequest, SegmentSource, SegmentStore } from '../segment-store.js';

/** The calls of a store that reach the database. */
export type SegmentCall = 'prepare' | 'reserve' | 'giveBack';

/** A process's connection to a segment table in memory, with faults. The database has a clock of its own. */
export class FaultSegmentStore implements SegmentStore {
  /** Every request that was made, in order. */
  readonly requests: (SegmentRequest & { readonly code: string })[] = [];
  readonly returns: Segment[] = [];
  /** The requests on their way, by their number, and since when. */
  readonly underWay = new Map<number, number>();
  /** The most there ever were at once. */
  mostUnderWay = 0;
  isClosed = false;
  /** Decides what happens to a call when no fault is lined up for it. */
  faultFor: (call: SegmentCall) => Fault | undefined = () => undefined;
  /** Told of every range that the database reserves, whether or not the answer arrives; a request has a number. */
  onReserved: (segment: Segment, request: number) => void = () => undefined;
  onAnswered: (segment: Segment) => void = () => undefined;
  /** Told of what the database took back. */
  onReturned: (unused: Segment) => void = () => undefined;
  private readonly linedUp: { readonly call: SegmentCall; readonly fault: Fault | undefined }[] = [];
  protected readonly memory: MemorySegmentStore;

  constructor(
    table: MemorySegmentTable,
    private readonly process: VirtualTime,
    private readonly database: VirtualTime,
    options?: MemorySegmentOptions,
  ) {
    this.memory = this.storeOf(table, options);
  }

  /** The next calls of that kind meet these faults, one each; undefined for none. */
  next(call: SegmentCall, ...faults: (Fault | undefined)[]): void {
    this.linedUp.push(...faults.map((fault) => ({ call, fault })));
  }

  prepare(): Promise<void> {
    return this.through('prepare', () => this.memory.prepare());
  }

  source(code: string): SegmentSource {
    const source = this.memory.source(code);
    return {
      reserve: (request) => this.reserve(source, { ...request, code }),
      giveBack: (unused) => {
        this.returns.push(unused);
        return this.through('giveBack', () => this.giveBack(source, unused));
      },
    };
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return this.memory.durabilityWarnings();
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  /** The table on the other end; a subclass may put a faulty database there. */
  protected storeOf(table: MemorySegmentTable, options: MemorySegmentOptions | undefined): MemorySegmentStore {
    return new MemorySegmentStore(table, options);
  }

  private async reserve(source: SegmentSource, request: SegmentRequest & { code: string }): Promise<ReservedSegment> {
    const number = this.requests.push(request) - 1;
    this.underWay.set(number, this.process.monotonicMs);
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay.size);
    try {
      const answer = await this.through('reserve', async () => {
        const segment = await source.reserve(request);
        this.onReserved(segment, number);
        return segment;
      });
      this.onAnswered(answer);
      return answer;
    } finally {
      this.underWay.delete(number);
    }
  }

  private async giveBack(source: SegmentSource, unused: Segment): Promise<boolean> {
    const wentBack = await source.giveBack(unused);
    if (wentBack) this.onReturned(unused);
    return wentBack;
  }

  private async through<T>(call: SegmentCall, execute: () => Promise<T>): Promise<T> {
    if (this.process.isStopped) return never();
    const answer = await meet(this.takeFault(call), this.database, execute);
    return this.process.isStopped ? never() : answer;
  }

  private takeFault(call: SegmentCall): Fault | undefined {
    const index = this.linedUp.findIndex((each) => each.call === call);
    return index < 0 ? this.faultFor(call) : this.linedUp.splice(index, 1)[0]!.fault;
  }
}
