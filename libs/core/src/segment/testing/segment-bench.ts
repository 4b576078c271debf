import { VirtualTime } from '../../testing/virtual-time.js';
import { MemorySegmentTable, type MemorySegmentOptions } from '../memory-segment-store.js';
import { SegmentGenerator } from '../segment-generator.js';
import type { SegmentOptions } from '../segment-options.js';
import type { SegmentStatus } from '../segment-supply.js';
import { FaultSegmentStore } from './fault-segment-store.js';

export interface SegmentBenchOptions extends MemorySegmentOptions {
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
