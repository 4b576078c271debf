import { MemoryWorkerStore, MemoryWorkerTable, resolveLeaseOptions, sessionAgesOf } from '@raindrop/core/internal';
import { VirtualTime } from '../../support/engine/virtual-time.js';
import { WorkerDatabase } from '../../support/engine/keeper-bench.js';
import type { Invariants } from './invariants.js';
import { SimulatedBackups, type Lack, type Restore } from './simulated-backups.js';
import { SimulatedServers, type Failover } from './simulated-servers.js';
import { ROWS } from './layout-choice.js';
import type { Setup } from './plan.js';

/** The database of a schedule, and what operators, other programs and failovers do to it. */
export class SimulatedDatabase extends WorkerDatabase {
  private lastFallBackMs = Number.NEGATIVE_INFINITY;
  private kept: { readonly table: MemoryWorkerTable; readonly atMs: number } | undefined;
  /** Where servers take turns; undefined where there is one. */
  readonly servers: SimulatedServers | undefined;
  /** Where backups are restored. */
  private readonly backups: SimulatedBackups | undefined;
  private readonly lacks = new WeakMap<MemoryWorkerTable, Lack>();

  constructor(
    private readonly startMs: number,
    private readonly setup: Pick<Setup, 'family' | 'lease' | 'otherLease' | 'lossMs' | 'serverOffsets'>,
    private readonly note: (what: string) => void,
  ) {
    super(new VirtualTime(startMs));
    // The table was there before the first failover.
    if (setup.family === 'failovers' || setup.serverOffsets !== undefined) {
      this.servers = new SimulatedServers(this.table, this.time, setup.serverOffsets ?? [0, 0, 0]);
    }
    if (setup.family === 'restores') this.backups = new SimulatedBackups();
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
    const { lack } = this;
    this.servers.failOver({ ...failover, lackMs: Math.min(failover.lackMs, this.setup.lossMs) });
    if (lack !== undefined) this.lacks.set(this.presentTable, lack);
    if (failover.isRecorded === true) this.record();
  }

  /** A process with the longest reach looks at the primary. */
  private record(): void {
    const reaches = [this.setup.lease, this.setup.otherLease].map((lease) => sessionAgesOf(resolveLeaseOptions(lease)));
    const reachMs = Math.max(...reaches.map((each) => each.reachMs));
    const store = new MemoryWorkerStore(this.presentTable, () => this.presentWall, reachMs);
    void store.prepare({ min: 1, max: ROWS });
    void store.readRow(1);
    this.servers?.primary.keep();
  }

  /** A backup of this moment, if any is wanted. */
  keepBackup(): void {
    if (this.backups === undefined) return;
    const { elapsedMs: atMs, lack } = this;
    const table = new MemoryWorkerTable();
    this.restore(this.presentTable, table);
    this.backups.keep({ atMs, table, lack });
  }

  markBackup(): void {
    this.keepBackup();
    this.backups?.mark();
  }

  /** A backup takes the place of the table. */
  restoreBackup({ of, onto, hasState }: Restore, invariants: Invariants): void {
    const empty = { atMs: 0, table: new MemoryWorkerTable(), lack: undefined };
    const backup = of === 'empty' ? empty : this.backups?.find(of, this.elapsedMs);
    if (backup === undefined) return;
    this.note('restored backup');
    if (this.servers !== undefined && !hasState) this.note('restored backup without its state');
    const { layouts } = this.presentTable;
    if ([...layouts].some((layout) => !backup.table.layouts.has(layout))) this.note('backup older than a layout');
    invariants.regressed();
    const table = new MemoryWorkerTable();
    this.restore(backup.table, table);
    if (!hasState) table.state = new MemoryWorkerTable().state;
    if (this.servers === undefined) this.restore(table);
    else this.servers.restore(table, onto);
    const lack = backup.lack ?? { sinceMs: backup.atMs, hasState: true };
    this.lacks.set(this.presentTable, { ...lack, hasState: lack.hasState && hasState });
  }

  /** The server before is started once more with its own data, and the others are stopped. */
  goBack(invariants: Invariants): void {
    const sinceMs = this.servers?.goBack();
    if (sinceMs === undefined) return;
    this.note('return to a former primary');
    invariants.regressed();
    const { lack } = this;
    this.lacks.set(this.presentTable, {
      sinceMs: Math.min(sinceMs, lack?.sinceMs ?? sinceMs),
      hasState: lack?.hasState ?? true,
    });
  }

  /** What the table lacks since a restore; undefined once it was fenced. */
  get lack(): Lack | undefined {
    return this.lacks.get(this.presentTable);
  }

  wasFenced(): void {
    this.servers?.primary.keep();
    this.lacks.delete(this.presentTable);
  }

  /** The clock of all servers is wrong. */
  stepStore(ms: number): void {
    this.time.step(ms);
    this.servers?.correctClock();
  }

  correctStore(): void {
    this.correctClock();
    this.servers?.correctClock();
  }

  get presentTable(): MemoryWorkerTable {
    return this.servers?.primary.table ?? this.table;
  }

  /** The wall clock of the server that is the primary. */
  get presentWall(): number {
    return (this.servers?.primary ?? this).time.wall;
  }
}
