import { MemorySegmentTable } from '../../../libs/core/src/segment/memory-segment-store.js';
import { sizeOf } from '../../../libs/core/src/segment/number-buffer.js';
import { SegmentGenerator } from '../../../libs/core/src/segment/segment-generator.js';
import type { Segment } from '../../../libs/core/src/segment/segment-store.js';
import type { Fault } from './fault-store.js';
import { SeededRandom } from './seeded-random.js';
import { settle, VirtualTime } from './virtual-time.js';
import { type BreakSource, FaultSegmentStore } from './segment-bench.js';

/** What all processes of a run of the simulation share. */
class Run {
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

/** `crowd`: four processes that come and go. `regression`: one process, whose database loses commits. */
export type Scenario = 'crowd' | 'regression';

/** What a run came to. */
export interface Outcome {
  readonly violations: string[];
  readonly issued: number;
  /** How often each thing happened. */
  readonly happened: Record<string, number>;
}

const OP_TIMEOUT_MS = 200;
const STEPS = 150;

/** A store whose database may break the contract. */
class RunStore extends FaultSegmentStore {
  constructor(run: Run, process: VirtualTime) {
    super(run.table, process, run.database);
    const source = this.memory.source.bind(this.memory);
    this.memory.source = (code) => run.breakSource(source(code), run.table, run.database);
  }
}

/** One process, and what is known of its numbers from outside. */
class SimulatedProcess {
  readonly time: VirtualTime;
  readonly store: RunStore;
  readonly generator: SegmentGenerator;
  isClosed = false;
  private readonly ranges: (Segment & { readonly request: number })[] = [];
  /** Requests before this one are forgotten. */
  private forgottenBefore = 0;
  /** Of sync and of async calls: what these took is seen a moment later. */
  private readonly highest = { now: 0n, soon: 0n };
  private reserved = 0;
  private answered = 0;
  private returned = 0;
  private issued = 0;

  constructor(private readonly run: Run) {
    const { roll, database } = run;
    this.time = database.another(0, 1 + roll(1_000_000));
    this.store = new RunStore(run, this.time);
    this.store.faultFor = (call) => this.meet(call);
    this.store.onReserved = (segment, request) => {
      this.ranges.push({ ...segment, request });
      this.reserved += sizeOf(segment);
    };
    this.store.onAnswered = (segment) => (this.answered += sizeOf(segment));
    this.store.onReturned = (unused) => (this.returned += sizeOf(unused));
    this.generator = new SegmentGenerator(this.store, this.time, {
      opTimeoutMs: OP_TIMEOUT_MS,
      retryBaseMs: 10,
      retryMaxMs: 200,
      asyncTimeoutMs: 300,
      maxBatch: 50,
      maxStep: 64,
      prefetchBelow: [0, 0.5, 0.9, 1][roll(4)]!,
      chain: roll(3) === 0 && { safeDistance: 1 + roll(3), maxBuffered: 100 },
    });
  }

  takeNow(count: number): void {
    try {
      this.note(this.generator.nextIds(count), 'now');
    } catch {
      this.run.count('refused call');
    }
  }

  takeSoon(count: number): void {
    const noted = this.generator.nextIdsAsync(count).then((numbers) => this.note(numbers, 'soon'));
    noted.catch((error: Error) => this.run.count(error.name));
  }

  restore(): void {
    this.forgottenBefore = this.store.requests.length;
    this.generator.afterRestore();
  }

  close(): void {
    this.isClosed = true;
    void this.generator.close();
  }

  kill(): void {
    this.time.isStopped = true;
  }

  /** The books: every number that was reserved for this process is somewhere. */
  balance(): void {
    const { reserved, dropped, forgotten, givenBack, issued } = this.generator.counters;
    const left = this.generator.status()[0]?.left ?? 0;
    const check = (isRight: boolean, what: string): void => void (isRight || this.run.violations.push(what));
    check(this.answered === reserved + dropped, `${this.answered} came, ${reserved} kept, ${dropped} dropped`);
    check(issued === this.issued, `${issued} are counted, ${this.issued} were handed out`);
    check(givenBack <= this.returned, `${givenBack} went back, ${this.returned} were taken back`);
    const kept = issued + left + forgotten;
    check(this.isClosed || reserved === kept, `${reserved} came, ${kept} are issued, at hand or forgotten`);
    check(this.returned + issued <= this.reserved, `${this.returned} were taken back, ${issued} issued`);
  }

  private meet(call: string): Fault | undefined {
    if (call === 'reserve') {
      const now = this.time.monotonicMs;
      const rivals = [...this.store.underWay].filter(([request, since]) => {
        return (
          request < this.store.requests.length - 1 && request >= this.forgottenBefore && now - since < OP_TIMEOUT_MS
        );
      });
      if (rivals.length > 0) this.run.violations.push('two requests are under way');
    }
    return call === 'prepare' ? undefined : this.run.fault(call);
  }

  private note(numbers: readonly bigint[], kind: 'now' | 'soon'): void {
    for (const number of numbers) {
      const isOwn = this.ranges.some(({ first, last, request }) => {
        return number >= first && number <= last && request >= this.forgottenBefore;
      });
      const { violations, handedOut } = this.run;
      if (!isOwn) violations.push(`${number} was handed out by one who does not have it`);
      if (number <= this.highest[kind]) violations.push(`${number} was handed out after ${this.highest[kind]}`);
      if (handedOut.has(number)) violations.push(`${number} was handed out twice`);
      handedOut.add(number);
      this.highest[kind] = number;
      this.issued++;
    }
  }
}

/** Lets processes do what a seed says, while their database and their hosts do what that says. */
export async function simulate(
  seed: number,
  scenario: Scenario,
  breakSource: BreakSource = (same) => same,
): Promise<Outcome> {
  const run = new Run(seed, breakSource);
  const { roll, database, table } = run;
  const all = Array.from({ length: scenario === 'crowd' ? 4 : 1 }, () => new SimulatedProcess(run));
  const alive = [...all];
  const replace = (index: number): void => {
    alive[index] = new SimulatedProcess(run);
    all.push(alive[index]);
  };
  for (let step = 0; step < STEPS; step++) {
    const index = roll(alive.length);
    const process = alive[index]!;
    const dice = roll(100);
    if (dice < 40) process.takeNow(1 + roll(12));
    else if (dice < 65) process.takeSoon(1 + roll(roll(4) === 0 ? 50 : 4));
    else if (dice < 90) await database.advance(roll(120));
    else if (dice < 92) {
      run.count('restore');
      await settle();
      process.restore();
    } else if (scenario === 'regression') {
      run.count('lost commits');
      const row = table.rows.get('default')!;
      row.maxId -= BigInt(Math.min(Number(row.maxId), roll(60)));
    } else if (dice < 95) {
      run.count('kill');
      process.kill();
      replace(index);
    } else {
      run.count('close');
      process.close();
      replace(index);
    }
  }
  await database.advance(3_000);
  for (const each of all) if (!each.time.isStopped) each.balance();
  for (const each of alive) each.close();
  await database.advance(3_000);
  for (const each of all) if (!each.time.isStopped) each.balance();
  return { violations: run.violations, issued: run.handedOut.size, happened: run.happened };
}
