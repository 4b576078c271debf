import { BEFORE_ALL, type Lane, type PerLane, type Position, type Tenure } from '../generator/tenure.js';
import type { Timer } from '../ports.js';
import { RaindropError } from '../raindrop-error.js';
import type { LeasePorts } from './lease-context.js';
import { ClockSkewError, ClosedError, LeaseLostError, NotReadyError, StoreUnavailableError } from './lease-errors.js';

const NOTHING_ISSUED: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];

/** The limits while no worker id is held: nothing may be issued. */
const NOTHING_RESERVED: ReservedPositions = {
  lane: 0,
  base: NOTHING_ISSUED,
  limit: NOTHING_ISSUED,
  renewThreshold: NOTHING_ISSUED,
};

/** A worker id as a service uses it: the tenure of its generator, with a start, a status, events and an end. */
export interface Worker extends Tenure {
  /** Sets how the highest position issued in the present lease is found, by lane: the generator knows. */
  setHighestIssued(highest: (lane: Lane) => Position): void;
  /** Settles when IDs can be issued. When it rejects the worker is closed. */
  start(): Promise<void>;
  status(): LeaseStatus;
  /** Calls the listener at each event from now on; what it throws, or rejects with, is ignored. */
  onEvent(listener: (event: LeaseEvent) => unknown): void;
  /**
   * To be called when this process's memory was restored from a snapshot: positions granted before are not used any
   * more.
   */
  afterRestore(): void;
  /** Stops issuing for ever and gives the worker id back. Never rejects. */
  close(): Promise<void>;
}

/**
 * Keeps one worker id, from a store or from an assigner: acquires a lease of it, renews the lease, acquires another one
 * after a loss, gives the id back. It is the tenure that the generator asks "may I issue up to here?".
 */
export abstract class WorkerKeeper<Kept extends Lease> implements Worker {
  /** The worker id of the present lease, or of the last one; -1 before the first. */
  workerId = -1;
  /** Counts leases. */
  number = 0;
  abstract readonly flipping: boolean;

  protected lease: Kept | undefined;
  protected readonly ports: LeasePorts;
  protected readonly hooks: KeeperHooks;
  protected readonly renewals: RenewalTimer;
  /** How far the present lease has issued, on each lane. */
  protected readonly highestIssued: HighestIssued = () => [this.highestOn(0), this.highestOn(1)];

  private phase: 'starting' | 'held' | 'lost' | 'closed' = 'starting';
  private isLossReported = false;
  private restores = 0;
  private lastError: RaindropError | undefined;
  private readonly counters = { renewals: 0, failures: 0 };
  private changed: () => void = () => {};
  private readonly listeners: ((event: LeaseEvent) => unknown)[] = [];
  /** Until {@link setHighestIssued} says more, all that was granted counts as issued. */
  private highestOn: (lane: Lane) => Position = (lane) => this.limit[lane];
  private closing: Promise<void> | undefined;

  constructor(ports: LeasePorts, heartbeatIntervalMs: number) {
    // A restored snapshot is like a copy in another process, for this memory may live twice: it gets another process
    // id.
    this.ports = { ...ports, processId: () => ports.processId() + this.restores * 2 ** 32 };
    this.hooks = {
      changed: () => notifyListener(this.changed),
      renewNow: () => this.renewals.requestNow(),
      emit: (event) => {
        if (event.type === 'lease-renewed' || event.type === 'lease-regained') this.counters.renewals++;
        for (const listener of this.listeners) notifyListener(listener, event);
      },
    };
    // A lease that is to be renewed at once says 0, such as one that is suspect: `attempt` asks for that renewal itself.
    const withinMs = (): number => this.lease?.renewWithinMs || Number.POSITIVE_INFINITY;
    this.renewals = new RenewalTimer(this.ports, heartbeatIntervalMs, () => this.attempt(), withinMs);
  }

  get lane(): Lane {
    return this.reservation.lane;
  }

  get base(): PerLane<Position> {
    return this.reservation.base;
  }

  get limit(): PerLane<Position> {
    return this.reservation.limit;
  }

  get renewThreshold(): PerLane<Position> {
    return this.reservation.renewThreshold;
  }

  abstract start(): Promise<void>;
  abstract requestExtension(wanted?: number): void;
  abstract requestFlip(lane: Lane): void;

  onChange(listener: () => void): void {
    this.changed = listener;
  }

  onEvent(listener: (event: LeaseEvent) => unknown): void {
    this.listeners.push(listener);
  }

  setHighestIssued(highest: (lane: Lane) => Position): void {
    this.highestOn = highest;
  }

  admit(wallMs: number): RaindropError | undefined {
    if (this.phase === 'held') return this.lease!.admit(wallMs);
    if (this.phase === 'closed') return new ClosedError();
    if (this.phase === 'starting') return new NotReadyError('none has been acquired');
    if (this.lastError instanceof ClockSkewError) return this.lastError;
    return new LeaseLostError(this.workerId, 'it was lost; another worker is being acquired');
  }

  afterRestore(): void {
    this.restores++;
    this.admit(this.ports.clock.refresh());
  }

  /**
   * Stops issuing for ever, then gives the worker id back; the next holder may have it at once. Never rejects: a worker
   * id that cannot be given back comes free when its lease ends.
   */
  close(): Promise<void> {
    return (this.closing ??= this.shutDown());
  }

  /** Which worker id is held, for how long yet, and how the renewals went. */
  status(): LeaseStatus {
    const { lease, phase, lane, base, limit, counters, lastError } = this;
    return {
      state: phase === 'held' ? lease!.state : phase,
      workerId: lease?.workerId,
      leaseLeftMs: lease?.leaseLeftMs ?? 0,
      clockOffsetMs: lease?.clockOffsetMs,
      lane,
      base,
      limit,
      ...counters,
      lastError,
    };
  }

  /** True from the call of `close()` on. */
  protected get isClosed(): boolean {
    return this.phase === 'closed';
  }

  /** Acquires a worker id; nothing is issued meanwhile. */
  protected abstract acquireLease(): Promise<Kept>;

  /** Cancels a start that is under way, and settles when it has ended. */
  protected cancelStart?(): Promise<void>;

  /** Closes the store that worker ids come from. */
  protected disconnect?(): Promise<void>;

  /**
   * Begins to issue under a lease.
   * @throws ClosedError when the keeper was closed meanwhile; then the worker id goes back
   */
  protected async beginLease(lease: Kept): Promise<void> {
    if (this.isClosed) {
      await lease.release(() => NOTHING_ISSUED);
      throw new ClosedError();
    }
    this.lease = lease;
    this.workerId = lease.workerId;
    this.number++;
    this.phase = 'held';
    this.isLossReported = false;
    this.hooks.changed();
    this.hooks.emit({ type: this.number === 1 ? 'lease-acquired' : 'lease-regained', workerId: this.workerId });
  }

  private get reservation(): ReservedPositions {
    return this.lease?.reservation ?? NOTHING_RESERVED;
  }

  /** One attempt to renew the lease, or to acquire another one. Answers whether it succeeded; never rejects. */
  private async attempt(): Promise<boolean> {
    try {
      if (this.phase === 'held') await this.renew(this.lease!);
      if (this.phase === 'lost') await this.beginLease(await this.acquireLease());
      this.lastError = undefined;
      if (this.lease?.renewWithinMs === 0) this.renewals.requestSoon();
      return true;
    } catch (error) {
      if (this.isClosed) return true;
      this.counters.failures++;
      this.lastError = error instanceof RaindropError ? error : new StoreUnavailableError('keeping the lease', error);
      this.hooks.emit({ type: 'lease-trouble', error: this.lastError });
      if (this.lease?.isLapsed === true) this.reportLoss('its lease has run out without a renewal');
      return false;
    }
  }

  private async renew(lease: Kept): Promise<void> {
    const reason = await lease.renew(this.highestIssued);
    if (reason === undefined) return;
    this.lease = undefined;
    if (this.phase === 'held') this.phase = 'lost';
    this.hooks.changed();
    this.reportLoss(reason);
  }

  private reportLoss(reason: string): void {
    if (this.isLossReported) return;
    this.isLossReported = true;
    this.hooks.changed();
    this.hooks.emit({ type: 'lease-lost', workerId: this.workerId, reason });
  }

  private async shutDown(): Promise<void> {
    this.phase = 'closed';
    this.hooks.changed();
    await this.cancelStart?.();
    await this.renewals.stop();
    const { lease } = this;
    if (lease !== undefined && (await lease.release(this.highestIssued))) {
      this.hooks.emit({ type: 'lease-released', workerId: this.workerId });
    }
    this.lease = undefined;
    await this.disconnect?.();
  }
}

/** Says how far a lease has issued, on each lane. */
export type HighestIssued = () => PerLane<Position>;

/** The messages from a lease to its keeper. */
export interface KeeperHooks {
  /** The positions that may be issued, or the answer of `admit`, have changed. */
  readonly changed: () => void;
  /** Asks for a renewal at once. */
  readonly renewNow: () => void;
  readonly emit: (event: LeaseEvent) => void;
}

/** The positions that a lease may issue, `(base, limit]` of each lane, and the lane on which it goes on. */
export type ReservedPositions = Pick<Tenure, 'lane' | 'base' | 'limit' | 'renewThreshold'>;

/** One lease of one worker id, from the answer that gave the id to the call that gives it back. */
export interface Lease extends Pick<Tenure, 'workerId' | 'admit'> {
  readonly reservation: ReservedPositions;
  /** For the status. `lost`: it has run out, and the next attempt to renew it ends it. */
  readonly state: Extract<LeaseStatus['state'], 'held' | 'suspect' | 'lost'>;
  readonly leaseLeftMs: number;
  readonly clockOffsetMs: number | undefined;
  readonly isLapsed: boolean;
  /** The next renewal is sent so many ms after the last one at the latest; 0: soon after it. */
  readonly renewWithinMs: number;

  /** @returns why the lease is over; undefined while it goes on. @throws when that is not known yet */
  renew(highestIssued: HighestIssued): Promise<string | undefined>;
  /**
   * Gives the worker id back. Nothing is issued any more: the keeper has closed before.
   * @returns false when the id could not be given back, or must not be
   */
  release(highestIssued: HighestIssued): Promise<boolean>;
}

/** A lease at one moment, for status and health. */
export interface LeaseStatus {
  /** `suspect`: held, but nothing is issued until it is confirmed. */
  readonly state: 'starting' | 'held' | 'suspect' | 'lost' | 'closed';
  readonly workerId: number | undefined;
  readonly lane: Lane;
  /** How long IDs are issued without another renewal, ms; 0 while none are. */
  readonly leaseLeftMs: number;
  readonly base: PerLane<Position>;
  readonly limit: PerLane<Position>;
  /** This host's clock minus the database's at the last contact, ms, with the time that the answer took. */
  readonly clockOffsetMs: number | undefined;
  /** How often the lease was renewed, or another one acquired after a loss. */
  readonly renewals: number;
  readonly failures: number;
  /** The error of the last attempt; undefined when it succeeded. */
  readonly lastError: RaindropError | undefined;
}

/** An event of a lease, for logs, health and metrics. Nothing in it is secret. */
export type LeaseEvent =
  | { readonly type: 'lease-acquired'; readonly workerId: number }
  | { readonly type: 'lease-renewed'; readonly workerId: number; readonly tookMs: number }
  | { readonly type: 'lease-lost'; readonly workerId: number; readonly reason: string }
  | { readonly type: 'lease-regained'; readonly workerId: number }
  | { readonly type: 'lease-suspect'; readonly workerId: number; readonly reason: string }
  | { readonly type: 'lease-released'; readonly workerId: number }
  /** The worker's current lane changed, because the clock went back. */
  | { readonly type: 'clock-back'; readonly workerId: number; readonly lane: 0 | 1 }
  | { readonly type: 'database-regression'; readonly workerId: number; readonly error: RaindropError }
  /** An attempt failed; it is made again. */
  | { readonly type: 'lease-trouble'; readonly error: RaindropError }
  /** Everything works, but an operator should change something. */
  | { readonly type: 'warning'; readonly message: string };

/** The least pause between two renewals that were requested, ms. */
const MIN_PAUSE_MS = 20;

/** The longest pause after an attempt that failed, ms. */
const RETRY_MS = 800;

/** Decides when the next attempt is made: one timer, one attempt at a time. */
export class RenewalTimer {
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private isRequested = false;
  private isFailing = false;
  private isStopped = false;

  /**
   * @param attempt answers whether it succeeded; one that rejects has failed
   * @param atMostMs the longest that the next pause may be, whatever the heartbeat
   */
  constructor(
    private readonly ports: Pick<LeasePorts, 'timers' | 'randomness'>,
    private readonly heartbeatIntervalMs: number,
    private readonly attempt: () => Promise<boolean>,
    private readonly atMostMs: () => number,
  ) {}

  /** True when an attempt is under way or about to be made. */
  get isBusy(): boolean {
    return this.running !== undefined || (this.isRequested && !this.isFailing);
  }

  start(): void {
    if (!this.isRequested) this.schedule(this.pauseAfter(true));
  }

  /** Brings the next attempt forward. While attempts fail they keep their own pace. */
  requestSoon(): void {
    if (this.isRequested) return;
    this.isRequested = true;
    if (this.running === undefined && !this.isFailing) this.schedule(MIN_PAUSE_MS);
  }

  /** Makes an attempt at once; while one is under way the next one follows 20 ms after it, or after a failure's pause. */
  requestNow(): void {
    this.isRequested = true;
    if (this.running === undefined) this.schedule(0);
  }

  /** Makes no further attempt; settles when the one under way has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await this.running;
  }

  private schedule(delayMs: number): void {
    this.timer?.cancel();
    if (this.isStopped) return;
    this.timer = this.ports.timers.setTimer(() => this.run(), delayMs, 'background');
  }

  private run(): void {
    if (this.running !== undefined || this.isStopped) return;
    this.isRequested = false;
    const attempt = this.attempt().catch(() => false);
    this.running = attempt.then((succeeded) => {
      this.running = undefined;
      this.isFailing = !succeeded;
      this.schedule(this.isRequested && succeeded ? MIN_PAUSE_MS : this.pauseAfter(succeeded));
    });
  }

  /** A tenth of jitter keeps many processes from renewing together. */
  private pauseAfter(succeeded: boolean): number {
    const pause = succeeded ? this.heartbeatIntervalMs : Math.min(this.heartbeatIntervalMs, RETRY_MS);
    return Math.min(pause * (1 - this.ports.randomness.fraction() / 10), this.atMostMs());
  }
}

/** Calls a listener of an application. An error of the listener must neither stop a lease nor end the process. */
function notifyListener<Args extends unknown[]>(listener: (...args: Args) => unknown, ...args: Args): void {
  try {
    Promise.resolve(listener(...args)).catch(() => undefined);
  } catch {
    // There is no caller to throw it to.
  }
}
