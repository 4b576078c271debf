import { pause } from '../async.js';
import { AFTER_ALL, BEFORE_ALL, type Lane, maxPosition, type PerLane, type Position } from '../generator/tenure.js';
import type { Layout } from '../layout/layout.js';
import { CLOCK_GRAIN_MS, type ClockReading, readClocks } from '../lease/admission.js';
import type { LeasePorts } from '../lease/lease-context.js';
import { LeaseLostError, LeaseSuspectError, NotReadyError } from '../lease/lease-errors.js';
import { type KeeperHooks, type Lease, type ReservedPositions, WorkerKeeper } from '../lease/worker-keeper.js';
import type { RaindropError } from '../raindrop-error.js';
import {
  type AssignedWorkerId,
  AssignerCalls,
  NoWorkerIdError,
  type WorkerIdAssigner,
  type WorkerIdRequest,
} from './worker-id-assigner.js';

/** The set-up says how a worker id without an odometer is kept. */
export interface AssignedIdSetup {
  readonly assigner: WorkerIdAssigner;
  readonly request: WorkerIdRequest;
  /** The lane that each lease begins on. */
  readonly firstLane: Lane;
  /**
   * How far ahead of this host's clock a former holder of the id may have issued, ms: the first ID lies after the tick
   * of the clock + this, and is issued when the clock has passed it. `false`: no former holder matters.
   */
  readonly restartWaitMs: number | false;
  /** How long one call of the assigner may take, ms. */
  readonly opTimeoutMs: number;
}

/** A start that waits for longer than this warns of it, ms. */
const LONG_WAIT_MS = 2_000;

/** The pause between two attempts when an id needs no renewal, ms. */
const IDLE_MS = 3_600_000;

/**
 * Keeps a worker id from an assigner without odometers: asks for it, renews its lease where it has one, asks for
 * another after a loss, gives it back. The id is as unique as the assigner guarantees, and no more.
 */
export class AssignedWorkerKeeper extends WorkerKeeper<AssignedLease> {
  readonly flipping = false;
  private readonly ctx: AssignedContext;
  private readonly history = new IssuedHistory();

  constructor(
    private readonly setup: AssignedIdSetup,
    ports: LeasePorts,
  ) {
    super(ports, IDLE_MS);
    const calls = new AssignerCalls(setup.assigner, setup.request, ports, setup.opTimeoutMs);
    this.ctx = { ports: this.ports, calls, hooks: this.hooks, lane: setup.firstLane };
  }

  /**
   * Asks the assigner for a worker id. To be called once, before {@link start}.
   * @returns false when the assigner has none to give
   * @throws WorkerIdAssignerError when the assigner failed or its answer cannot be used; ClosedError
   */
  async acquire(): Promise<boolean> {
    const lease = await this.ask();
    if (lease !== undefined) await this.beginLease(lease);
    return lease !== undefined;
  }

  /**
   * Settles when IDs can be issued with the worker id that {@link acquire} got. When it fails the keeper is closed.
   * @throws NotReadyError when the clock does not advance; ClosedError
   */
  async start(): Promise<void> {
    try {
      await this.waitForFormerHolder();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Does nothing: an assigned worker id has no limit. */
  requestExtension(): void {}

  /** Does nothing: both lanes are there from the start. */
  requestFlip(): void {}

  protected async acquireLease(): Promise<AssignedLease> {
    const lease = await this.ask();
    if (lease === undefined) throw new NoWorkerIdError([this.setup.assigner.name]);
    return lease;
  }

  protected override async beginLease(lease: AssignedLease): Promise<void> {
    await super.beginLease(lease);
    for (const message of lease.warnings) this.hooks.emit({ type: 'warning', message });
  }

  private async waitForFormerHolder(): Promise<void> {
    const { lease, ports } = this;
    if (lease?.hasEnd === true) this.renewals.start();
    const waitMs = lease?.wait.leftMs(ports.clock.refresh()) ?? 0;
    if (waitMs > LONG_WAIT_MS) {
      const message = `worker ${this.workerId} may have issued IDs until now: the start waits ${Math.ceil(waitMs / 1_000)} s`;
      this.hooks.emit({ type: 'warning', message });
    }
    await lease?.wait.pass(ports, () => this.isClosed);
    const refusal = this.admit(ports.clock.refresh());
    if (refusal !== undefined) throw refusal;
  }

  /** Undefined when the assigner has none to give. @throws WorkerIdAssignerError */
  private async ask(): Promise<AssignedLease | undefined> {
    const { ports, calls } = this.ctx;
    const { restartWaitMs, request } = this.setup;
    const asked = readClocks(ports.clock.refresh(), ports);
    const assigned = await calls.acquire();
    if (assigned === undefined) return undefined;
    // Nothing is issued any more under the former id: what it has issued by now is final.
    this.history.record(this.workerId, this.highestIssued());
    const wait = new RestartWait(request.layout, restartWaitMs, ports.clock.refresh());
    return new AssignedLease(this.ctx, assigned, asked, wait, this.history.of(assigned.workerId));
  }
}

const LAPSED = 'its lease ran out without a renewal';

const EVERYTHING: PerLane<Position> = [AFTER_ALL, AFTER_ALL];

/** The context that stays the same from one lease to the next. */
interface AssignedContext {
  readonly ports: LeasePorts;
  readonly calls: AssignerCalls;
  readonly hooks: KeeperHooks;
  /** The lane that each lease begins on. */
  readonly lane: Lane;
}

/** One lease of an assigned worker id: until when it may be used, by which process, and from which position on. */
class AssignedLease implements Lease {
  readonly reservation: ReservedPositions;
  readonly clockOffsetMs = undefined;
  private readonly processId: number;
  private suspicion: string | undefined;
  /**
   * The end by both clocks: the monotonic one stands still while the host sleeps, and the wall clock may be set back.
   * The earlier end counts.
   */
  private end: Pick<ClockReading, 'monotonicMs' | 'wallMs'>;

  /**
   * @param asked clocks and process before the id was asked for
   * @param own how far this process has issued under the id before
   */
  constructor(
    private readonly ctx: AssignedContext,
    private assigned: AssignedWorkerId,
    asked: ClockReading,
    readonly wait: RestartWait,
    own: PerLane<Position>,
  ) {
    const base = [maxPosition(wait.base, own[0]), maxPosition(wait.base, own[1])] as const;
    this.reservation = { lane: ctx.lane, base, limit: EVERYTHING, renewThreshold: EVERYTHING };
    this.processId = asked.processId;
    this.end = endOf(assigned, asked);
  }

  get workerId(): number {
    return this.assigned.workerId;
  }

  /** False when the id may be used until it is released. */
  get hasEnd(): boolean {
    return this.assigned.leaseMs !== undefined;
  }

  get warnings(): readonly string[] {
    return this.assigned.warnings ?? [];
  }

  get state(): 'held' | 'suspect' | 'lost' {
    if (this.suspicion !== undefined) return 'suspect';
    return this.isLapsed ? 'lost' : 'held';
  }

  get leaseLeftMs(): number {
    return this.state === 'held' ? this.leftMs : 0;
  }

  get isLapsed(): boolean {
    return this.leftMs <= CLOCK_GRAIN_MS;
  }

  get renewWithinMs(): number {
    return (this.assigned.leaseMs ?? Number.POSITIVE_INFINITY) / 3;
  }

  /** Undefined when IDs may be issued now. */
  admit(wallMs: number): RaindropError | undefined {
    this.checkProcess();
    if (this.suspicion !== undefined) return new LeaseSuspectError(this.workerId, this.suspicion);
    if (this.isLapsed) return new LeaseLostError(this.workerId, 'its lease has run out without a renewal');
    if (this.wait.hasPassed(wallMs)) return undefined;
    return new NotReadyError(`a former holder of worker ${this.workerId} may have issued IDs up to this time`);
  }

  /** A lease that ran out before the answer came is not revived: other processes may have had the id since. */
  async renew(): Promise<string | undefined> {
    const { ports, calls, hooks } = this.ctx;
    if (this.suspicion !== undefined) return this.suspicion;
    if (this.isLapsed) return LAPSED;
    if (!this.hasEnd) return undefined;
    const asked = readClocks(ports.clock.refresh(), ports);
    const renewed = await calls.renew(this.assigned);
    const isOurs = renewed?.workerId === this.workerId;
    if (renewed !== undefined && !isOurs) await calls.release(renewed);
    if (this.suspicion !== undefined) return this.suspicion;
    if (renewed === undefined) return 'its assigner reports it lost';
    if (!isOurs || this.isLapsed) return LAPSED;
    this.assigned = renewed;
    this.end = endOf(renewed, asked);
    hooks.emit({ type: 'lease-renewed', workerId: this.workerId, tookMs: ports.monotonic.now() - asked.monotonicMs });
    return undefined;
  }

  /** An id that a copy of this process may use as well, or that another process may have by now, is not given back. */
  async release(): Promise<boolean> {
    this.checkProcess();
    if (this.state !== 'held') return false;
    await this.ctx.calls.release(this.assigned);
    return true;
  }

  /** The id belongs to the process that was given it: a copy of that process asks for an id of its own. */
  private checkProcess(): void {
    const { ports, hooks } = this.ctx;
    if (this.suspicion !== undefined || ports.processId() === this.processId) return;
    this.suspicion = 'its process was copied or restored from a snapshot';
    hooks.changed();
    hooks.emit({ type: 'lease-suspect', workerId: this.workerId, reason: this.suspicion });
    hooks.renewNow();
  }

  /** How long the id may be used without a renewal, ms. */
  private get leftMs(): number {
    if (!this.hasEnd) return Number.POSITIVE_INFINITY;
    const { clock, monotonic } = this.ctx.ports;
    return Math.min(this.end.monotonicMs - monotonic.now(), this.end.wallMs - clock.refresh());
  }
}

function endOf({ leaseMs = Number.POSITIVE_INFINITY }: AssignedWorkerId, { monotonicMs, wallMs }: ClockReading) {
  return { monotonicMs: monotonicMs + leaseMs, wallMs: wallMs + leaseMs };
}

const NOTHING_ISSUED: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];

/**
 * How far this process has issued under each worker id that it had: when it is given one of them again, it goes on from
 * there, whatever its clock says.
 */
class IssuedHistory {
  private readonly highest = new Map<number, PerLane<Position>>();

  /** Called at the end of a lease. */
  record(workerId: number, highestIssued: PerLane<Position>): void {
    const [first, second] = this.of(workerId);
    this.highest.set(workerId, [maxPosition(first, highestIssued[0]), maxPosition(second, highestIssued[1])]);
  }

  of(workerId: number): PerLane<Position> {
    return this.highest.get(workerId) ?? NOTHING_ISSUED;
  }
}

/** A clock that has not got there so long after it should have is waited for no longer, ms. */
const PATIENCE_MS = 10_000;

/** The clock is read again after this at the latest, ms: it may be set forward meanwhile. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Keeps the first ID of a lease back where it is unknown how far a former holder of the worker id has issued. That
 * holder is taken to have issued up to the tick of the clock + `waitMs`, and the clock has to pass that tick first.
 * Example: with ticks of 1 s and a wait of 5 s, a lease that begins at 12:00:00.5 issues its first ID at 12:00:06.
 */
export class RestartWait {
  /** Everything up to here may have been issued. */
  readonly base: Position;
  private isOver: boolean;

  /** @param waitMs false for none */
  constructor(
    private readonly layout: Layout,
    private readonly waitMs: number | false,
    wallMs: number,
  ) {
    this.isOver = waitMs === false;
    const tick = layout.timeline.tickAt(wallMs + Number(waitMs));
    this.base = waitMs === false ? BEFORE_ALL : { tick, sequence: layout.maxSequence };
  }

  /** Whether the clock has passed the base. Once it has, the lanes take care of a clock that goes back. */
  hasPassed(wallMs: number): boolean {
    this.isOver ||= this.layout.timeline.tickAt(wallMs) > this.base.tick;
    return this.isOver;
  }

  /** How far the clock still has to go, ms; 0 or less when it has got there. */
  leftMs(wallMs: number): number {
    return this.isOver ? 0 : this.layout.timeline.startOf(this.base.tick + 1) - wallMs;
  }

  /** Waits for the clock. Answers false when it does not get there, or when `isEnded` says so. */
  async pass({ clock, monotonic, timers }: LeasePorts, isEnded: () => boolean): Promise<boolean> {
    const giveUpMs = monotonic.now() + Number(this.waitMs) + this.layout.unitMs + PATIENCE_MS;
    for (let wallMs = clock.refresh(); !this.hasPassed(wallMs); wallMs = clock.refresh()) {
      if (isEnded() || monotonic.now() > giveUpMs) return false;
      const pauseMs = Math.min(Math.max(1, this.leftMs(wallMs)), LOOK_AGAIN_MS);
      await pause(timers, pauseMs, 'foreground');
    }
    return true;
  }
}
