import type { MemoryWorkerTable } from '@raindrop/core/internal';
import { VirtualTime } from '../../support/engine/virtual-time.js';
import { WorkerDatabase } from '../../support/engine/keeper-bench.js';
import type { Invariants } from './invariants.js';
import { SimulatedServers, type Failover } from './simulated-servers.js';
import type { Setup } from './plan.js';

/** The database of a schedule, and what operators, other programs and failovers do to it. */
export class SimulatedDatabase extends WorkerDatabase {
  private lastFallBackMs = Number.NEGATIVE_INFINITY;
  private kept: { readonly table: MemoryWorkerTable; readonly atMs: number } | undefined;
  /** Where servers take turns; undefined where there is one. */
  readonly servers: SimulatedServers | undefined;

  constructor(
    private readonly startMs: number,
    private readonly setup: Pick<Setup, 'family' | 'lease' | 'lossMs' | 'serverOffsets'>,
    private readonly note: (what: string) => void,
  ) {
    super(new VirtualTime(startMs));
    // The table was there before the first failover.
    if (setup.family === 'failovers') {
      this.servers = new SimulatedServers(this.table, this.time, setup.serverOffsets ?? [0, 0, 0]);
    }
  }

  /** Since the schedule began. */
  get elapsedMs(): number {
    return this.time.monotonicMs;
  }

  /** What a clock that is right shows. */
  get trueWall(): number {
    return this.startMs + this.elapsedMs;
  }

  stepClock(ms: number): void {
    this.note('database step');
    this.time.step(ms);
  }

  correctClock(): void {
    this.time.setWall(this.trueWall);
  }

  /** A row is marked deleted. */
  hide(id: number, { hidden }: Invariants): void {
    const row = this.table.rows.get(id);
    if (row === undefined || hidden.size > 0) return;
    this.note('row marked deleted');
    hidden.set(id, row);
    this.table.rows.delete(id);
  }

  /** It is not any more. */
  show(id: number, { hidden }: Invariants): void {
    const row = hidden.get(id);
    if (row === undefined) return;
    this.table.rows.set(id, row);
    hidden.delete(id);
  }

  /** A program of the original takes a row. */
  takeAsForeigner(id: number, invariants: Invariants): void {
    if (!this.table.rows.has(id)) return;
    this.note('foreign write');
    this.writeAsForeigner(id);
    invariants.foreign(id, this.time.wall);
  }

  /**
   * Where only a window protects, one failover at a time: until every holder has written again, or lost his lease, the
   * table is behind.
   */
  keepSnapshot(): void {
    const { leaseMs = 0 } = this.setup.lease;
    if (this.servers === undefined && this.elapsedMs - this.lastFallBackMs < leaseMs + this.setup.lossMs) return;
    this.kept = { table: this.snapshot(), atMs: this.elapsedMs };
  }

  /** Everything since the snapshot is lost, where so much can be. */
  fallBack(invariants: Invariants): void {
    if (this.kept === undefined) return;
    const lackMs = this.elapsedMs - this.kept.atMs;
    if (lackMs >= this.setup.lossMs) return;
    if (this.servers !== undefined) return this.failOver({ to: 1, lackMs, livesOn: false }, invariants);
    this.note('lost commits');
    this.lastFallBackMs = this.elapsedMs;
    invariants.regressed();
    this.restore(this.kept.table);
  }

  /** Another server takes over. */
  failOver(failover: Failover, invariants: Invariants): void {
    if (this.servers === undefined) return;
    this.note(failover.livesOn ? 'failover, the old primary lives on' : 'failover');
    invariants.regressed();
    this.servers.failOver({ ...failover, lackMs: Math.min(failover.lackMs, this.setup.lossMs) });
  }

  /** The wall clock of the server that is the primary. */
  get presentWall(): number {
    return (this.servers?.primary ?? this).time.wall;
  }
}
