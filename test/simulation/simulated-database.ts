import type { LeaseOptions } from '@raindrop/core';
import type { MemoryWorkerTable } from '@raindrop/core/internal';
import { VirtualTime } from '../../libs/core/src/testing/virtual-time.js';
import { WorkerDatabase } from '../../libs/core/src/testing/worker-database.js';
import type { Invariants } from './invariants.js';

/** The database of a schedule, and what operators, other programs and failovers do to it. */
export class SimulatedDatabase extends WorkerDatabase {
  private lastFallBackMs = Number.NEGATIVE_INFINITY;
  private kept: { readonly table: MemoryWorkerTable; readonly atMs: number } | undefined;

  constructor(
    private readonly startMs: number,
    private readonly lease: LeaseOptions,
    private readonly note: (what: string) => void,
  ) {
    super(new VirtualTime(startMs));
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

  /** One failover at a time: until every holder has written again, or lost his lease, the table is behind. */
  keepSnapshot(): void {
    const { leaseMs = 0, commitLossWindowMs = 0 } = this.lease;
    if (this.elapsedMs - this.lastFallBackMs < leaseMs + commitLossWindowMs) return;
    this.kept = { table: this.snapshot(), atMs: this.elapsedMs };
  }

  /** Everything since the snapshot is lost, where the settings say that so much can be. */
  fallBack(invariants: Invariants): void {
    if (this.kept === undefined || this.elapsedMs - this.kept.atMs >= (this.lease.commitLossWindowMs ?? 0)) return;
    this.note('lost commits');
    this.lastFallBackMs = this.elapsedMs;
    invariants.regressed();
    this.restore(this.kept.table);
  }
}
