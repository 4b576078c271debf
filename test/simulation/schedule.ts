import type { LayoutOptions } from '@raindrop/core';
import { FaultStore, type Fault } from '../../libs/core/src/testing/fault-store.js';
import { KeeperBench } from '../../libs/core/src/testing/keeper-bench.js';
import { VirtualTime } from '../../libs/core/src/testing/virtual-time.js';
import { WorkerDatabase } from '../../libs/core/src/testing/worker-database.js';

/** What one schedule has seen. */
export interface Outcome {
  readonly issued: number;
  /** IDs that came twice, as `code/id`. */
  readonly repeated: readonly string[];
  /** How often each event of the plan came about. */
  readonly fired: Readonly<Record<string, number>>;
}

export type MakeStore = (database: WorkerDatabase, time: VirtualTime) => FaultStore;

const PROCESSES = 3;
const STEPS = 120;

/** Few sequence bits, so that ticks, blocks and reservations run out all the time. */
const LAYOUTS: readonly Partial<LayoutOptions>[] = [
  { timeUnit: 'millisecond', timeStampLength: 55 },
  { timeUnit: 'second', timeStampLength: 55 },
  { timeUnit: 'second', timeStampLength: 40, endBitsLength: 1 },
  { timeUnit: 'minute', timeStampLength: 50, endBitsLength: 2 },
  { timeUnit: 'hour', timeStampLength: 45, workIdLength: 5, endBitsLength: 5 },
  { timeUnit: 'day', timeStampLength: 40, workIdLength: 7, endBitsLength: 5 },
];

const LEASE = {
  heartbeatIntervalMs: 400,
  leaseMs: 2_000,
  horizonMs: 2_500,
  graceMs: 1_000,
  opTimeoutMs: 300,
  maxClockSkewMs: 1_000,
};

/** Three processes on two rows, at the mercy of a seed: the same seed does the same. */
export class Schedule {
  private readonly random: VirtualTime;
  private readonly database = new WorkerDatabase();
  private readonly processes: KeeperBench[] = [];
  /** Closed, and still asked for IDs. */
  private readonly closed: KeeperBench[] = [];
  private readonly layout: Partial<LayoutOptions>;
  private readonly seen = new Set<string>();
  private readonly repeated: string[] = [];
  private readonly fired: Record<string, number> = {};

  constructor(
    private readonly seed: number,
    private readonly makeStore?: MakeStore,
  ) {
    this.random = new VirtualTime(0, seed * 7_919 + 1);
    this.layout = { ...this.pick(LAYOUTS), serviceMaxWorkId: 2 };
  }

  async run(): Promise<Outcome> {
    for (let index = 0; index < PROCESSES; index++) this.start(index);
    await this.database.advance(10);
    for (let step = 0; step < STEPS; step++) {
      for (const each of [...this.processes, ...this.closed]) this.issue(each);
      await this.happen(this.below(PROCESSES));
      for (const each of this.processes) this.issue(each);
      await this.database.advance(this.pick([0, 1, 5, 50, 400, 1_500, 5_000]));
    }
    return { issued: this.seen.size, repeated: this.repeated, fired: this.fired };
  }

  private async happen(index: number): Promise<void> {
    const bench = this.processes[index]!;
    const note = (what: string): number => (this.fired[what] = (this.fired[what] ?? 0) + 1);
    const step = this.pick([-1, 1]) * this.pick([1, 900, 3_000, 60_000, 3_600_000, 86_400_000]);
    switch (this.below(14)) {
      case 0:
      case 1:
        note('clock step');
        return bench.time.step(step);
      case 2:
        note('database clock step');
        return this.database.time.step(step / 10);
      case 3:
      case 4:
        note('kill');
        bench.kill();
        return this.start(index);
      case 5:
        note('release');
        void bench.keeper.close();
        this.closed.push(bench);
        await this.database.advance(this.pick([0, 1, 500]));
        return this.start(index);
      case 6:
        note('pause');
        return bench.pause();
      case 7:
        return bench.resume();
      case 8:
        note('outage');
        return bench.store.goDown();
      case 9:
        return this.processes.forEach((each) => each.store.comeBack());
      case 10:
        note('blocked loop');
        return this.database.time.freeze(this.pick([100, 1_900, 2_100, 10_000]));
      default:
        note('write fault');
        return bench.store.next('write', this.fault());
    }
  }

  private fault(): Fault {
    return this.pick<Fault>([
      { kind: 'refused' },
      { kind: 'answer-lost' },
      { kind: 'hangs' },
      { kind: 'ghost', afterMs: this.pick([310, 1_000, 4_000]) },
      { kind: 'slow', thereMs: this.below(290), backMs: this.below(290) },
    ]);
  }

  /** A new process with the wall clock of the one it replaces: a crash sets no clock right. */
  private start(index: number): void {
    const bench = new KeeperBench({
      database: this.database,
      wall: this.processes[index]?.time.wall,
      seed: this.seed * 1_000 + this.below(1_000_000),
      layout: this.layout,
      lease: { ...LEASE, waitForWorkerMs: 20_000 },
      generator: { maxHoldMs: 500 },
      ...(this.makeStore === undefined ? {} : { makeStore: this.makeStore }),
    });
    this.processes[index] = bench;
    void bench.keeper.start().catch(() => undefined);
  }

  private issue({ generator, time }: KeeperBench): void {
    if (time.isStopped || time.isPaused) return;
    for (let calls = this.below(6); calls > 0; calls--) {
      const code = this.pick([undefined, 'a', 'b']);
      try {
        const key = `${code}/${generator.nextId(code)}`;
        if (this.seen.has(key)) this.repeated.push(key);
        this.seen.add(key);
      } catch (error) {
        const { errorCode } = error as { errorCode?: string };
        if (errorCode === undefined) throw error;
        this.fired[errorCode] = (this.fired[errorCode] ?? 0) + 1;
        return;
      }
    }
  }

  private below(limit: number): number {
    return Math.floor(this.random.randomness.fraction() * limit);
  }

  private pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }
}
