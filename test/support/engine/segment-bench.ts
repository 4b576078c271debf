import {
  type MemorySegmentOptions,
  MemorySegmentStore,
  MemorySegmentTable,
} from '../../../libs/core/src/segment/memory-segment-store.js';
import type {
  ReservedSegment,
  Segment,
  SegmentRequest,
  SegmentSource,
  SegmentStore,
} from '../../../libs/core/src/segment/segment-store.js';
import { SegmentGenerator } from '../../../libs/core/src/segment/segment-generator.js';
import type { SegmentOptions } from '../../../libs/core/src/segment/segment-options.js';
import type { SegmentStatus } from '../../../libs/core/src/segment/segment-policy.js';
import { type Fault, meet, never } from './fault-store.js';
import { VirtualTime } from './virtual-time.js';

/** The calls of a store that reach the database. */
type SegmentCall = 'prepare' | 'reserve' | 'giveBack';

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

/** Puts a database that breaks the store's contract in place of a good one. */
export type BreakSource = (source: SegmentSource, table: MemorySegmentTable, database: VirtualTime) => SegmentSource;

/** A source that takes numbers back even if another process has reserved in between. */
export const unguardedGiveBack: BreakSource = (source, table) => ({
  reserve: (request) => source.reserve(request),
  giveBack: ({ first }) => {
    table.rows.get('default')!.maxId = first - 1n;
    return Promise.resolve(true);
  },
});

/** A connection that repeats every return a little later, to a row without a version. */
export const repeatedGiveBack: BreakSource = (source, table, database) => ({
  reserve: (request) => source.reserve(request),
  giveBack: (unused) => {
    const repeat = (): void => {
      const row = table.rows.get('default')!;
      if (row.maxId === unused.last) row.maxId = unused.first - 1n;
    };
    for (let ms = 20; ms <= 2_000; ms += 20) database.setTimer(repeat, ms);
    return source.giveBack(unused);
  },
});

/** A store that does not look at how far the process has come. */
export const aboveIgnored: BreakSource = (source) => ({
  reserve: (request) => source.reserve({ ...request, above: 0n }),
  giveBack: (unused) => source.giveBack(unused),
});

interface SegmentBenchOptions extends MemorySegmentOptions {
  /** A table of its own by default. */
  readonly table?: MemorySegmentTable;
  readonly options?: SegmentOptions;
  /** The default code's row, if it is to be there already. */
  readonly row?: { readonly maxId?: bigint; readonly step?: number; readonly maxLimitId?: bigint };
}

/** One process: a generator connected to a segment table with faults. */
export class SegmentBench {
  readonly table: MemorySegmentTable;
  readonly time = new VirtualTime(0);
  readonly store: FaultSegmentStore;
  readonly generator: SegmentGenerator;

  constructor({ table = new MemorySegmentTable(), options, row, ...memory }: SegmentBenchOptions = {}) {
    this.table = table;
    if (row !== undefined) table.rows.set('default', { maxId: 0n, step: 1_000, maxLimitId: 0n, ...row });
    this.store = new FaultSegmentStore(table, this.time, this.time.another(), memory);
    this.generator = new SegmentGenerator(this.store, this.time, options);
  }

  /** A process whose default code has numbers at hand. */
  static async started(options?: SegmentBenchOptions): Promise<SegmentBench> {
    const bench = new SegmentBench(options);
    await bench.generator.start(['default']);
    return bench;
  }

  /** How the default code stands. */
  get status(): SegmentStatus {
    return this.generator.status()[0]!;
  }

  get row(): { maxId: bigint; step: number; maxLimitId: bigint } {
    return this.table.rows.get('default')!;
  }

  /** How many numbers each request asked for. */
  get counts(): (number | undefined)[] {
    return this.store.requests.map(({ count }) => count);
  }

  /** So many numbers of the default code, taken one by one. */
  take(count: number): bigint[] {
    return Array.from({ length: count }, () => this.generator.nextId());
  }
}

/** The numbers from `first` to `last`. */
export function range(first: number | bigint, last: number | bigint): bigint[] {
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => BigInt(first) + BigInt(index));
}
