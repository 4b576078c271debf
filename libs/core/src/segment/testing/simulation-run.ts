import type { Fault } from '../../testing/fault.js';
import { SeededRandom } from '../../testing/seeded-random.js';
import { VirtualTime } from '../../testing/virtual-time.js';
import { MemorySegmentTable } from '../memory-segment-store.js';
import type { BreakSource } from './broken-sources.js';

/** What all processes of a run of the simulation share. */
export class Run {
  readonly violations: string[] = [];
  readonly happened: Record<string, number> = {};
  readonly table = new MemorySegmentTable();
  readonly database = new VirtualTime(0);
  readonly roll: (below: number) => number;
  readonly handedOut = new Set<bigint>();

  constructor(
    seed: number,
    readonly breakSource: BreakSource,
  ) {
    const random = new SeededRandom(seed);
    this.roll = (below) => random.below(below);
    this.table.rows.set('default', { maxId: 0n, step: 4 + this.roll(12), maxLimitId: 0n });
  }

  count(what: string): void {
    this.happened[what] = (this.happened[what] ?? 0) + 1;
  }

  fault(call: string): Fault | undefined {
    const { roll } = this;
    if (roll(3) > 0) return undefined;
    const faults: Fault[] = [
      { kind: 'refused' },
      { kind: 'answer-lost' },
      { kind: 'hangs' },
      { kind: 'ghost', afterMs: roll(1_000) },
      { kind: 'slow', thereMs: roll(150), backMs: roll(150) },
      { kind: 'slow', thereMs: roll(300), backMs: roll(500) },
    ];
    const fault = faults[roll(faults.length)]!;
    this.count(`${fault.kind} ${call}`);
    return fault;
  }
}
