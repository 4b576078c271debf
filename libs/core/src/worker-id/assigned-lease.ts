import { AFTER_ALL, BEFORE_ALL, type Lane, maxPosition, type PerLane, type Position } from '../generator/tenure.js';
import type { RaindropError } from '../raindrop-error.js';
import { type ClockReading, readClocks } from '../lease/admission.js';
import type { ReservedPositions, Lease, KeeperHooks } from '../lease/worker-keeper.js';
import type { LeasePorts } from '../lease/lease-context.js';
import { LeaseLostError, LeaseSuspectError, NotReadyError } from '../lease/lease-errors.js';
import type { Layout } from '../layout/layout.js';
import type { AssignedWorkerId, AssignerCalls } from './worker-id-assigner.js';

/** As long as the generator may rely on one answer: until the clock's value changes. */
const CLOCK_GRAIN_MS = 1;

const LAPSED = 'its lease ran out without a renewal';

const EVERYTHING: PerLane<Position> = [AFTER_ALL, AFTER_ALL];

/** What stays the same from one tenure to the next. */
export interface AssignedContext {
  readonly ports: LeasePorts;
  readonly calls: AssignerCalls;
  readonly hooks: KeeperHooks;
  /** The lane a tenure begins on. */
  readonly lane: Lane;
}

/** One tenure of a worker id that was assigned: until when it may be used, by whom, and from where on. */
export class AssignedLease implements Lease {
  readonly reservation: ReservedPositions;
  readonly clockOffsetMs = undefined;
  private readonly processId: number;
  private suspicion: string | undefined;
  /**
   * The end by both clocks: the monotonic one stands still while the host sleeps, and the other one may be set back. The
   * earlier end counts.
   */
  private end: Pick<ClockReading, 'monotonicMs' | 'wallMs'>;

  /**
   * @param asked clock and process before the id was asked for
   * @param own how far this process has issued under it before
   */
  constructor(
    private readonly ctx: AssignedContext,
    private assigned: AssignedWorkerId,
    asked: ClockReading,
    readonly wait: RestartWait,
    own: PerLane<Position>,
  ) {
    const base = [maxPosition(wait.base, own[0]), maxPosition(wait.base, own[1])] as const;
    this.reservation = { lane: ctx.lane, base, limit: EVERYTHING, soft: EVERYTHING };
    this.processId = asked.processId;
    this.end = endOf(assigned, asked);
  }

  get workerId(): number {
    return this.assigned.workerId;
  }

  get hasLease(): boolean {
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
    return new NotReadyError(`a former holder of worker ${this.workerId} may have issued up to here`);
  }

  /** One that ran out before the answer came is not revived: others may have had the id since. */
  async renew(): Promise<string | undefined> {
    const { ports, calls, hooks } = this.ctx;
    if (this.suspicion !== undefined) return this.suspicion;
    if (this.isLapsed) return LAPSED;
    if (!this.hasLease) return undefined;
    const asked = readClocks(ports.clock.refresh(), ports);
    const renewed = await calls.renew(this.assigned);
    const isOurs = renewed?.workerId === this.workerId;
    if (renewed !== undefined && !isOurs) await calls.release(renewed);
    if (this.suspicion !== undefined) return this.suspicion;
    if (renewed === undefined) return 'its assigner says so';
    if (!isOurs || this.isLapsed) return LAPSED;
    this.assigned = renewed;
    this.end = endOf(renewed, asked);
    hooks.emit({ type: 'lease-renewed', workerId: this.workerId, tookMs: ports.monotonic.now() - asked.monotonicMs });
    return undefined;
  }

  /** What may live twice, or may be another process's by now, is not ours to give back. */
  async release(): Promise<boolean> {
    this.checkProcess();
    if (this.state !== 'held') return false;
    await this.ctx.calls.release(this.assigned);
    return true;
  }

  /** A copy of the process that was given the id asks for one of its own. */
  private checkProcess(): void {
    const { ports, hooks } = this.ctx;
    if (this.suspicion !== undefined || ports.processId() === this.processId) return;
    this.suspicion = 'its process was copied or restored from a snapshot';
    hooks.changed();
    hooks.emit({ type: 'lease-suspect', workerId: this.workerId, reason: this.suspicion });
    hooks.renewNow();
  }

  /** How long it may be used without a renewal, ms. */
  private get leftMs(): number {
    if (!this.hasLease) return Number.POSITIVE_INFINITY;
    const { clock, monotonic } = this.ctx.ports;
    return Math.min(this.end.monotonicMs - monotonic.now(), this.end.wallMs - clock.refresh());
  }
}

function endOf({ leaseMs = Number.POSITIVE_INFINITY }: AssignedWorkerId, { monotonicMs, wallMs }: ClockReading) {
  return { monotonicMs: monotonicMs + leaseMs, wallMs: wallMs + leaseMs };
}

const NOTHING: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];

/**
 * How far this process has issued under each worker id it had: one that comes back goes on from there, wherever the clock
 * stands.
 */
export class IssuedHistory {
  private readonly marks = new Map<number, PerLane<Position>>();

  /** Takes note at the end of a tenure of how far it has issued. */
  record(workerId: number, reached: PerLane<Position>): void {
    const [first, second] = this.of(workerId);
    this.marks.set(workerId, [maxPosition(first, reached[0]), maxPosition(second, reached[1])]);
  }

  of(workerId: number): PerLane<Position> {
    return this.marks.get(workerId) ?? NOTHING;
  }
}

/** How much longer than needed one waits for a clock that does not get there. */
const PATIENCE_MS = 10_000;

/** The end of one look at the clock; a clock that is set forward is seen by then. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Keeps the first ID of a tenure back where nobody knows how far a former holder of the worker id has issued: up to the
 * tick of the clock + `waitMs`, it is taken, and the clock has to pass that first.
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

  /** Tells whether the clock has passed the base; once it has, later steps of the clock are the lanes' business. */
  hasPassed(wallMs: number): boolean {
    this.isOver ||= this.layout.timeline.tickAt(wallMs) > this.base.tick;
    return this.isOver;
  }

  /** Tells how long the clock still has to go, ms; 0 or less when it has got there. */
  leftMs(wallMs: number): number {
    return this.isOver ? 0 : this.layout.timeline.startOf(this.base.tick + 1) - wallMs;
  }

  /** Waits for the clock. Answers false when it does not get there, or when `isEnded` says so. */
  async pass({ clock, monotonic, timers }: LeasePorts, isEnded: () => boolean): Promise<boolean> {
    const giveUpMs = monotonic.now() + Number(this.waitMs) + this.layout.unitMs + PATIENCE_MS;
    for (let wallMs = clock.refresh(); !this.hasPassed(wallMs); wallMs = clock.refresh()) {
      if (isEnded() || monotonic.now() > giveUpMs) return false;
      const pauseMs = Math.min(Math.max(1, this.leftMs(wallMs)), LOOK_AGAIN_MS);
      await new Promise<void>((resolve) => timers.setTimer(resolve, pauseMs, 'foreground'));
    }
    return true;
  }
}
