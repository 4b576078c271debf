import { resolveLayout } from '../../../libs/core/src/layout/layout-options.js';
import { sessionAgesOf } from '../../../libs/core/src/lease/grant-reach.js';
import { ClockSkewError } from '../../../libs/core/src/lease/lease-errors.js';
import { type LeaseOptions, resolveLeaseOptions } from '../../../libs/core/src/lease/lease-options.js';
import { ClockBehindError } from '../../../libs/core/src/lease/fence.js';
import { MemoryWorkerStore, type MemoryWorkerTable } from '../../../libs/core/src/lease/memory-worker-store.js';
import type { SampleRequest, WorkerSample, WorkerTable } from '../../../libs/core/src/lease/worker-store.js';
import { FaultStore } from '../../support/engine/fault-store.js';
import { KeeperBench, WorkerDatabase } from '../../support/engine/keeper-bench.js';
import { VirtualTime } from '../../support/engine/virtual-time.js';
import type { Act, ClockErrors, Host, LayoutName } from './acts.js';
import { IssuedIds } from './issued-ids.js';

const BEGAN_MS = Date.parse('2026-03-01T12:00:00.000Z');

/** A three hundredth of the defaults, or nearly: the shortest heartbeat is longer than that. */
const LEASE: LeaseOptions = {
  heartbeatIntervalMs: 100,
  opTimeoutMs: 10,
  leaseMs: 200,
  horizonMs: 217,
  maxClockSkewMs: 100,
  waitForWorkerMs: 1_000,
};
const RESOLVED = resolveLeaseOptions(LEASE);
export const { reachMs: REACH_MS } = sessionAgesOf(RESOLVED);

/** What `fenceWorkers` takes. */
const AHEAD_MS = RESOLVED.horizonMs + 3 * RESOLVED.maxClockSkewMs;

/** By how much the epoch of L2 is earlier, ms: its IDs are out of reach of every bar. */
export const EPOCHS_APART_MS = 2_000;

const layoutSince = (startTimeStamp: number) =>
  resolveLayout(
    { timeUnit: 'millisecond', startTimeStamp, timeStampLength: 41, workIdLength: 3, serviceMaxWorkId: 1 },
    BEGAN_MS,
  );
const L1_EPOCH_MS = Date.parse('2024-01-01');
const LAYOUTS = { L1: layoutSince(L1_EPOCH_MS), L2: layoutSince(L1_EPOCH_MS - EPOCHS_APART_MS) } as const;
const { lowBits, maxSequence, timeline } = LAYOUTS.L1.layout;

/** The clocks of the hosts when they are right: as far apart as is allowed, ms. */
const AHEAD_OF: Readonly<Record<Host, number>> = { A: 90, B: -90 };

/** A start that waits for longer is killed, ms: it waits for a bar in the far future. */
const LONGEST_START_MS = 2_400;

/** Time passes in steps, ms. All processes issue at the end of each. */
const STEP_MS = 50;

/** How long an act takes, ms. */
const MOMENT_MS = 5;

/** What the store and the operator take care of. */
export interface Rules {
  /** The store refuses a fence by an operator whose clock is further from its own than `maxClockSkewMs`. */
  readonly judgesOperator: boolean;
  /** The operator has corrected the clocks before a fence. */
  readonly fencesWithRightClocks: boolean;
  /** The operator names the layouts that served since the backup. */
  readonly namesLayouts: boolean;
  /** Of which layouts the operator states that it alone has served since the backup: if only one has, or of L1, true or not. */
  readonly statesServedAlone: 'none' | 'only one' | 'L1';
  /** The store tells servers apart. */
  readonly hasTerms: boolean;
  readonly mostFailovers: number;
  /** A backup is restored to another server. */
  readonly restoresElsewhere: boolean;
}

interface Server {
  readonly table: MemoryWorkerTable;
  readonly term: string;
}

/** A world in which no process runs, to go on from. */
export interface Checkpoint {
  readonly nowMs: number;
  readonly errors: ClockErrors;
  readonly primary: Server;
  readonly former: Server | undefined;
  /** What a replica has: the table before the last start. */
  readonly replica: MemoryWorkerTable | undefined;
  readonly backup: MemoryWorkerTable | undefined;
  readonly servedSinceBackup: ReadonlySet<LayoutName>;
  readonly latestMs: number;
  readonly mustFence: boolean;
  readonly starts: number;
  readonly failovers: number;
  readonly servers: number;
  readonly issued: IssuedIds;
}

/** As SQL stores do: a failover is recorded only by a process whose clock agrees with the store's. */
class SqlLikeStore extends FaultStore {
  private refuseSkew(): void {
    const { table } = this.memory as unknown as { readonly table: MemoryWorkerTable };
    const { knownTerm = '' } = table.state;
    const skewMs = this.process.wall - this.database.wall;
    if (knownTerm === '' || knownTerm === table.term || Math.abs(skewMs) <= RESOLVED.maxClockSkewMs) return;
    throw new ClockSkewError(skewMs, RESOLVED.maxClockSkewMs);
  }

  override async readTable(): Promise<WorkerTable> {
    this.refuseSkew();
    return super.readTable();
  }

  override async readSample(request: SampleRequest): Promise<WorkerSample> {
    this.refuseSkew();
    return super.readSample(request);
  }

  override async readRow(id: number): ReturnType<FaultStore['readRow']> {
    this.refuseSkew();
    return super.readRow(id);
  }
}

/** Two hosts with one worker id, a store with a replica and a backup, and an operator, in virtual time. */
export class World {
  /** Two processes issued it, or one did twice. */
  repeated: bigint | undefined;
  /** An ID that is smaller than an earlier one of its worker id and lane. */
  suspect: { readonly host: Host; readonly id: bigint } | undefined;
  readonly processes = new Map<Host, KeeperBench & { readonly layoutName: LayoutName }>();
  readonly database: WorkerDatabase;
  readonly issued: IssuedIds;
  errors: ClockErrors;
  former: Server | undefined;
  replica: MemoryWorkerTable | undefined;
  backup: MemoryWorkerTable | undefined;
  /** What the operator names at a fence. */
  servedSinceBackup: Set<LayoutName>;
  /** The latest time of an ID, Unix ms. An operator knows it when clocks were ahead. */
  latestMs: number;
  mustFence: boolean;
  failovers: number;
  /** How many there have been. */
  private servers: number;
  private starts: number;
  private readonly time: VirtualTime;

  constructor(
    readonly rules: Rules,
    from?: Checkpoint,
  ) {
    const nowMs = from?.nowMs ?? BEGAN_MS;
    this.errors = from?.errors ?? { store: 0, hosts: 0 };
    this.database = new WorkerDatabase(nowMs + this.errors.store);
    this.time = this.database.time.another(nowMs, 0);
    if (from === undefined) this.database.table.term = rules.hasTerms ? 'server 1' : '';
    else this.serveFrom(from.primary);
    this.former = from?.former;
    this.replica = from?.replica;
    this.backup = from?.backup;
    this.servedSinceBackup = new Set(from?.servedSinceBackup);
    this.latestMs = from?.latestMs ?? nowMs;
    this.mustFence = from?.mustFence ?? false;
    this.starts = from?.starts ?? 0;
    this.failovers = from?.failovers ?? 0;
    this.servers = from?.servers ?? 1;
    this.issued = from?.issued.copy() ?? new IssuedIds(lowBits, Math.log2(maxSequence + 1));
  }

  /** The true time, Unix ms. */
  get nowMs(): number {
    return this.time.wall;
  }

  /** Undefined while a process runs: its memory cannot be copied. */
  get checkpoint(): Checkpoint | undefined {
    if (this.processes.size > 0) return undefined;
    const { nowMs, errors, former, replica, backup, latestMs, mustFence, starts, failovers, servers } = this;
    const primary = { table: this.database.snapshot(), term: this.database.table.term };
    const servedSinceBackup = new Set(this.servedSinceBackup);
    const issued = this.issued.copy();
    return {
      nowMs,
      errors,
      primary,
      former,
      replica,
      backup,
      servedSinceBackup,
      latestMs,
      mustFence,
      starts,
      failovers,
      servers,
      issued,
    };
  }

  /** Whether an operator who follows the runbook may do this now, and whether it does anything. */
  allows(act: Act): boolean {
    const { processes, errors, rules } = this;
    switch (act.kind) {
      case 'start':
        return !processes.has(act.host) && !this.mustFence;
      case 'look':
        return !processes.has(act.host) && !this.mustFence && this.hasUnknownLoss;
      case 'stop':
      case 'kill':
        return processes.has(act.host);
      case 'wait':
        return this.restMs > 0;
      case 'clocks':
        if (this.hasUnknownLoss && !this.mustFence) return false;
        return errors.store !== act.errors.store || errors.hosts !== act.errors.hosts;
      case 'backup':
        return !this.mustFence;
      case 'restore':
        return this.backup !== undefined;
      case 'failover':
        return this.replica !== undefined && this.failovers < rules.mostFailovers && !this.mustFence;
      case 'return':
        return this.former !== undefined;
      case 'fence':
        if (processes.size > 0 || (rules.fencesWithRightClocks && (errors.store !== 0 || errors.hosts !== 0)))
          return false;
        // What clocks that were ahead have issued since the backup is in no table: a fence comes after that time.
        return !this.mustFence || this.latestMs <= this.nowMs + REACH_MS;
    }
  }

  async play(act: Act): Promise<void> {
    await this.perform(act);
    await this.pass(MOMENT_MS);
    // A world that goes on from a checkpoint begins at a whole millisecond, and so does this one.
    if (this.processes.size === 0) this.time.freeze(1 - (this.time.monotonicMs % 1));
  }

  /**
   * Lets the process that issued the suspect live on until its clock comes to the larger IDs, one after the other.
   * @returns the repeated ID, and how long the process had to live for it, ms; undefined when none was repeated
   */
  async confirm(): Promise<{ readonly id: bigint; readonly afterMs: number } | undefined> {
    const { repeated, suspect, nowMs } = this;
    if (repeated !== undefined) return { id: repeated, afterMs: 0 };
    const bench = suspect && this.processes.get(suspect.host);
    if (bench === undefined) return undefined;
    const { timeline } = bench.resolved.layout;
    for (const id of this.issued.after(suspect!.id)) {
      const waitMs = timeline.startOf(this.issued.tickOf(id)) - bench.time.wall;
      for (let left = waitMs; left > 0; left -= STEP_MS) await this.time.advance(Math.min(left, STEP_MS));
      const isIssued = (): boolean => bench.issued.at(-1)! >= id;
      // One tick may have several of them.
      for (let tries = 0; tries < 4 && !isIssued(); tries++) bench.refusal();
      if (bench.issued.at(-1) === id) return { id, afterMs: this.nowMs - nowMs };
    }
    return undefined;
  }

  private async perform(act: Act): Promise<void> {
    switch (act.kind) {
      case 'start':
        return this.start(act.host, act.layout);
      case 'look':
        await this.start(act.host, act.layout, STEP_MS);
        if (this.processes.has(act.host)) this.kill(act.host);
        return;
      case 'stop':
        return this.stop(act.host);
      case 'kill':
        return this.kill(act.host);
      case 'wait':
        return this.wait();
      case 'clocks':
        return this.setClocks(act.errors);
      case 'backup':
        this.backup = this.database.snapshot();
        this.servedSinceBackup = new Set([...this.processes.values()].map(({ layoutName }) => layoutName));
        return;
      case 'restore':
        this.killAll();
        if (this.rules.restoresElsewhere) this.serveFrom({ table: this.backup!, term: this.nextTerm() });
        else this.database.restore(this.backup!);
        this.mustFence = true;
        return;
      case 'failover':
        this.former = { table: this.database.snapshot(), term: this.database.table.term };
        this.failovers++;
        this.serveFrom({ table: this.replica!, term: this.nextTerm() });
        this.replica = undefined;
        return;
      case 'return':
        this.killAll();
        this.serveFrom(this.former!);
        this.former = undefined;
        this.replica = undefined;
        this.mustFence = true;
        return;
      case 'fence':
        return this.fence();
    }
  }

  /** As docs/operations.md says. The only place that knows how a fence is called. */
  private async fence(): Promise<void> {
    const { errors, rules, database } = this;
    const skewMs = errors.hosts - errors.store;
    if (rules.judgesOperator && Math.abs(skewMs) > RESOLVED.maxClockSkewMs) return;
    const store = new MemoryWorkerStore(database.table, () => database.time.wall, REACH_MS);
    const { maxClockSkewMs } = RESOLVED;
    const { servedSinceBackup: since } = this;
    const only = rules.statesServedAlone === 'only one' ? [...since] : ['L1' as const];
    const isStated = rules.statesServedAlone !== 'none' && only.length === 1;
    const statement = isStated ? { servedAlone: LAYOUTS[only[0]!].layout.fingerprint } : {};
    const request = { aheadMs: AHEAD_MS, maxClockSkewMs, ...statement };
    const isRefused = await store.fence(request).then(
      () => false,
      (error: unknown) => error instanceof ClockBehindError,
    );
    // The operator corrects the clocks, or waits.
    if (isRefused) return;
    for (const name of rules.namesLayouts ? since : []) await store.rememberLayout(LAYOUTS[name].layout.fingerprint);
    this.mustFence = false;
  }

  private async start(host: Host, layoutName: LayoutName, mostMs = LONGEST_START_MS): Promise<void> {
    // Nothing tells a table that was never used from one that has lost everything.
    if (this.database.table.layouts.size > 0) this.replica = this.database.snapshot();
    const bench = new KeeperBench({
      database: this.database,
      seed: ++this.starts,
      wall: this.wallOf(host),
      resolved: LAYOUTS[layoutName],
      lease: LEASE,
      makeStore: ({ table, time }, process) => new SqlLikeStore(table, process, time, REACH_MS),
    });
    let isOver = false;
    void bench.keeper
      .start()
      .catch(() => undefined)
      .then(() => (isOver = true));
    await this.pass(0);
    for (let left = mostMs; left > 0 && !isOver; left -= STEP_MS) await this.pass(STEP_MS);
    if (bench.keeper.status().state !== 'held') return bench.kill();
    this.processes.set(host, Object.assign(bench, { layoutName }));
    this.servedSinceBackup.add(layoutName);
  }

  private async stop(host: Host): Promise<void> {
    const bench = this.processes.get(host)!;
    let hasStopped = false;
    void bench.keeper.close().then(() => (hasStopped = true));
    for (let tries = 0; tries < 10 && !hasStopped; tries++) await this.pass(MOMENT_MS);
    this.kill(host);
  }

  private kill(host: Host): void {
    this.processes.get(host)!.kill();
    this.processes.delete(host);
  }

  private killAll(): void {
    for (const host of [...this.processes.keys()]) this.kill(host);
  }

  private setClocks(errors: ClockErrors): void {
    this.errors = errors;
    if (this.replica !== undefined) this.replica = this.database.snapshot();
    this.database.time.setWall(this.nowMs + errors.store);
    for (const [host, { time }] of this.processes) time.setWall(this.wallOf(host));
  }

  private async wait(): Promise<void> {
    if (this.processes.size === 0) return this.time.freeze(this.restMs);
    const { leaseMs, graceMs } = RESOLVED;
    for (let left = leaseMs + graceMs; left > 0; left -= STEP_MS) await this.pass(STEP_MS);
  }

  /** How long until everything that the table says is past by the slowest clock, ms. */
  private get restMs(): number {
    const { rows, layouts, state } = this.database.table;
    const apart = layouts.has(LAYOUTS.L2.layout.fingerprint) ? EPOCHS_APART_MS : 0;
    const ends = [...rows.values()].flatMap(({ odometers: [a, b], leaseUntilMs }) => [
      Math.max(a.ms, b.ms) + apart,
      leaseUntilMs + RESOLVED.graceMs,
    ]);
    const bars = [state.lostAtMs + state.reachMs + apart, state.fencedUntilMs ?? 0];
    const slowestMs = this.nowMs + Math.min(this.errors.store, this.errors.hosts) + AHEAD_OF.B;
    return Math.max(...ends, ...bars) + 2 - slowestMs;
  }

  /**
   * A failover that no process has recorded yet. Its moment is that of the record, by the store's clock: what was lost
   * is past then only if that clock was not set back in between.
   */
  private get hasUnknownLoss(): boolean {
    const { term, state } = this.database.table;
    return state.knownTerm !== undefined && state.knownTerm !== term;
  }

  private wallOf(host: Host): number {
    return this.nowMs + this.errors.hosts + AHEAD_OF[host];
  }

  private nextTerm(): string {
    return this.rules.hasTerms ? `server ${++this.servers}` : '';
  }

  private serveFrom({ table, term }: Server): void {
    this.database.restore(table);
    this.database.table.term = term;
  }

  private async pass(ms: number): Promise<void> {
    this.issue();
    await this.time.advance(ms);
    this.issue();
  }

  /** Every process issues an ID, if it may. */
  private issue(): void {
    for (const [host, bench] of this.processes) {
      if (bench.refusal() !== undefined) continue;
      const id = bench.issued.at(-1)!;
      this.latestMs = Math.max(this.latestMs, bench.time.wall);
      if (this.issued.has(id)) this.repeated ??= id;
      else if (this.suspect === undefined && this.issued.after(id).length > 0) this.suspect = { host, id };
      this.issued.add(id);
    }
  }
}

/** When a tick begins in L1, Unix ms. */
export const startOfTick = (tick: number): number => timeline.startOf(tick);
