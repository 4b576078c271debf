import { BEFORE_ALL, type Lane, type PerLane, type Position } from '../generator/position.js';
import type { Tenure } from '../generator/tenure.js';
import { RaindropError } from '../raindrop-error.js';
import type { Grant, HeldWorker, KeeperHooks, Reached } from './held-worker.js';
import type { LeasePorts } from './lease-context.js';
import { ClockSkewError, ClosedError, LeaseLostError, NotReadyError, StoreUnavailableError } from './lease-errors.js';
import type { LeaseEvent } from './lease-events.js';
import type { LeaseStatus } from './lease-status.js';
import { RenewalClock } from './renewal-clock.js';
import { tellQuietly } from './tell-quietly.js';

const NOTHING: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];

/** What may be issued while no worker id is held. */
const NO_GRANT: Grant = { lane: 0, base: NOTHING, limit: NOTHING, soft: NOTHING };

/**
 * Keeps one worker id, wherever it comes from: takes it, renews it, takes another one when it was lost, gives it back.
 * It is the tenure that the generator asks "may I issue up to here?".
 */
export abstract class WorkerKeeper<Held extends HeldWorker> implements Tenure {
  /** The worker id that is held, or was held last; -1 before the first. */
  workerId = -1;
  /** Counts tenures. */
  number = 0;
  abstract readonly flipping: boolean;

  protected held: Held | undefined;
  protected readonly ports: LeasePorts;
  protected readonly hooks: KeeperHooks;
  protected readonly renewals: RenewalClock;
  /** How far this tenure has issued, on each lane. */
  protected readonly reached: Reached = () => [this.highest(0), this.highest(1)];

  private phase: 'starting' | 'held' | 'lost' | 'closed' = 'starting';
  private isLossTold = false;
  private restores = 0;
  private lastError: RaindropError | undefined;
  private readonly counters = { renewals: 0, failures: 0 };
  private changed: () => void = () => {};
  /** Unless somebody knows better, all that was granted was issued. */
  private highest: (lane: Lane) => Position = (lane) => this.limit[lane];
  private closing: Promise<void> | undefined;

  /** @param listener whatever it throws or rejects with stops nothing, and nobody hears of it */
  constructor(ports: LeasePorts, heartbeatIntervalMs: number, listener: (event: LeaseEvent) => void) {
    // A copy in another process and a restored snapshot are the same to us: this memory may live twice. One number, then.
    this.ports = { ...ports, processId: () => ports.processId() + this.restores * 2 ** 32 };
    this.hooks = {
      changed: () => tellQuietly(this.changed),
      renewNow: () => this.renewals.now(),
      emit: (event) => tellQuietly(listener, event),
    };
    const withinMs = (): number => this.held?.renewWithinMs || Number.POSITIVE_INFINITY;
    this.renewals = new RenewalClock(this.ports, heartbeatIntervalMs, () => this.attempt(), withinMs);
  }

  get lane(): Lane {
    return this.grant.lane;
  }

  get base(): PerLane<Position> {
    return this.grant.base;
  }

  get limit(): PerLane<Position> {
    return this.grant.limit;
  }

  get soft(): PerLane<Position> {
    return this.grant.soft;
  }

  abstract requestExtension(wanted?: number): void;
  abstract requestFlip(lane: Lane): void;

  onChange(listener: () => void): void {
    this.changed = listener;
  }

  /** Names who knows the highest position issued in this tenure, by lane. */
  reportedBy(highest: (lane: Lane) => Position): void {
    this.highest = highest;
  }

  admit(wallMs: number): RaindropError | undefined {
    if (this.phase === 'held') return this.held!.admit(wallMs);
    if (this.phase === 'closed') return new ClosedError();
    if (this.phase === 'starting') return new NotReadyError('none has been acquired');
    if (this.lastError instanceof ClockSkewError) return this.lastError;
    return new LeaseLostError(this.workerId, 'it was lost; another worker is being acquired');
  }

  /** Call it when this process's memory was restored from a snapshot: nothing granted before is used any more. */
  afterRestore(): void {
    this.restores++;
    this.admit(this.ports.clock.refresh());
  }

  /**
   * Stops issuing for ever, then gives the worker id back; the next holder may have it at once. Never rejects: one that
   * cannot be given back comes free when its lease ends.
   */
  close(): Promise<void> {
    return (this.closing ??= this.shutDown());
  }

  /** What is held, how long yet, and how the renewals went. */
  status(): LeaseStatus {
    const { held, phase, lane, base, limit, counters, lastError } = this;
    return {
      state: phase === 'held' ? held!.state : phase,
      workerId: held?.workerId,
      leaseLeftMs: held?.leaseLeftMs ?? 0,
      clockOffsetMs: held?.clockOffsetMs,
      ...{ lane, base, limit, ...counters, lastError },
    };
  }

  /** True from the moment that `close()` is called. */
  protected get isClosed(): boolean {
    return this.phase === 'closed';
  }

  /** Takes a worker id; nothing is issued meanwhile. */
  protected abstract take(): Promise<Held>;

  /** Ends a start that is under way. */
  protected endStart?(): Promise<void>;

  /** Lets go of what worker ids come from. */
  protected disconnect?(): Promise<void>;

  /** A tenure begins. @throws ClosedError when the keeper was closed meanwhile; then the worker id goes back */
  protected async begin(held: Held): Promise<void> {
    if (this.isClosed) {
      await held.release(() => NOTHING);
      throw new ClosedError();
    }
    this.held = held;
    this.workerId = held.workerId;
    this.number++;
    this.phase = 'held';
    this.isLossTold = false;
    this.hooks.changed();
    this.hooks.emit({ type: this.number === 1 ? 'lease-acquired' : 'lease-regained', workerId: this.workerId });
  }

  private get grant(): Grant {
    return this.held?.grant ?? NO_GRANT;
  }

  /** One attempt to renew, or to take another one; answers whether it succeeded, and never rejects. */
  private async attempt(): Promise<boolean> {
    try {
      if (this.phase === 'held') await this.renew(this.held!);
      if (this.phase === 'lost') await this.begin(await this.take());
      this.counters.renewals++;
      this.lastError = undefined;
      if (this.held?.renewWithinMs === 0) this.renewals.soon();
      return true;
    } catch (error) {
      if (this.isClosed) return true;
      this.counters.failures++;
      this.lastError = error instanceof RaindropError ? error : new StoreUnavailableError('keeping the lease', error);
      this.hooks.emit({ type: 'lease-trouble', error: this.lastError });
      if (this.held?.isLapsed === true) this.tellLoss('its lease has run out without a renewal');
      return false;
    }
  }

  private async renew(held: Held): Promise<void> {
    const reason = await held.renew(this.reached);
    if (reason === undefined) return;
    this.held = undefined;
    if (this.phase === 'held') this.phase = 'lost';
    this.hooks.changed();
    this.tellLoss(reason);
  }

  private tellLoss(reason: string): void {
    if (this.isLossTold) return;
    this.isLossTold = true;
    this.hooks.changed();
    this.hooks.emit({ type: 'lease-lost', workerId: this.workerId, reason });
  }

  private async shutDown(): Promise<void> {
    this.phase = 'closed';
    this.hooks.changed();
    await this.endStart?.();
    await this.renewals.stop();
    const { held } = this;
    if (held !== undefined && (await held.release(this.reached))) {
      this.hooks.emit({ type: 'lease-released', workerId: this.workerId });
    }
    this.held = undefined;
    await this.disconnect?.();
  }
}
