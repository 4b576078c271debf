import { AFTER_ALL, BEFORE_ALL, type Lane, type PerLane, type Position } from '../generator/position.js';
import type { Tenure } from '../generator/tenure.js';
import type { RaindropError } from '../raindrop-error.js';
import type { LeasePorts } from '../lease/lease-context.js';
import { ClosedError, LeaseLostError, LeaseSuspectError, NotReadyError } from '../lease/lease-errors.js';
import type { LeaseEvent } from '../lease/lease-events.js';
import type { LeaseStatus } from '../lease/lease-status.js';
import { RenewalClock } from '../lease/renewal-clock.js';
import { tellQuietly } from '../lease/tell-quietly.js';
import { AssignedLease, momentOf, type Moment } from './assigned-lease.js';
import { AssignerCalls } from './assigner-calls.js';
import { OwnPast } from './own-past.js';
import { RestartWait } from './restart-wait.js';
import type { AssignedWorkerId, WorkerIdAssigner, WorkerIdRequest } from './worker-id-assigner.js';
import { NoWorkerIdError, WorkerIdAssignerError } from './worker-id-errors.js';

/** How a worker id without an odometer is kept. */
export interface AssignedIdSetup {
  readonly assigner: WorkerIdAssigner;
  readonly request: WorkerIdRequest;
  /** The lane a tenure begins on. */
  readonly firstLane: Lane;
  /**
   * A tenure begins past the tick of the clock + this, and not before the clock has got there: as far may a former holder
   * of the id have issued. Ms; false for none.
   */
  readonly restartWaitMs: number | false;
  /** How long one call of the assigner may take, ms. */
  readonly opTimeoutMs: number;
}

/** Longer than this somebody should know why nothing happens. */
const LONG_WAIT_MS = 2_000;

/** Between two looks at an id that needs no renewal. */
const IDLE_MS = 3_600_000;

const LAPSED = 'its lease ran out without a renewal';

const NOTHING: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];
const EVERYTHING: PerLane<Position> = [AFTER_ALL, AFTER_ALL];

/**
 * Keeps a worker id that an assigner without odometers gave: asks for it, renews its lease where it has one, asks for
 * another when it was lost, gives it back. What is promised is the assigner's promise and no more.
 */
export class AssignedIdKeeper implements Tenure {
  number = 0;
  readonly limit = EVERYTHING;
  readonly soft = EVERYTHING;
  readonly flipping = false;

  private phase: LeaseStatus['state'] = 'starting';
  private lease: AssignedLease | undefined;
  private lastError: RaindropError | undefined;
  private readonly tally = { renewals: 0, failures: 0 };
  private readonly past = new OwnPast();
  private readonly calls: AssignerCalls;
  private readonly renewals: RenewalClock;
  private closing: Promise<void> | undefined;
  private changed: () => void = () => {};

  /** @param listener whatever it throws or rejects with stops nothing, and nobody hears of it */
  constructor(
    private readonly setup: AssignedIdSetup,
    private readonly ports: LeasePorts,
    private readonly listener: (event: LeaseEvent) => void,
  ) {
    this.calls = new AssignerCalls(setup.assigner, setup.request, ports, setup.opTimeoutMs);
    const pauseMs = (): number => (this.lease?.assigned.leaseMs ?? IDLE_MS) / 3;
    const attempt = (): Promise<boolean> => this.attend();
    this.renewals = new RenewalClock({ ports, options: { heartbeatIntervalMs: IDLE_MS } }, attempt, pauseMs);
  }

  get workerId(): number {
    return this.lease?.workerId ?? -1;
  }

  get lane(): Lane {
    return this.setup.firstLane;
  }

  get base(): PerLane<Position> {
    return this.lease?.base ?? NOTHING;
  }

  /**
   * Asks for a worker id and settles when IDs can be issued with it, or with false when the assigner has none to give.
   * @throws WorkerIdAssignerError when the assigner failed or answered what cannot be used; NotReadyError when the clock
   * does not move on; ClosedError
   */
  async start(): Promise<boolean> {
    const lease = await this.acquire();
    if (lease === undefined) return false;
    if (lease.assigned.leaseMs !== undefined) this.renewals.start();
    const waitMs = lease.wait.leftMs(this.ports.clock.refresh());
    if (waitMs > LONG_WAIT_MS) {
      const message = `worker ${lease.workerId} may have been used up to now: the start waits ${Math.ceil(waitMs / 1_000)} s`;
      this.emit({ type: 'warning', message });
    }
    await lease.wait.pass(this.ports, () => this.closing !== undefined);
    const refusal = this.admit(this.ports.clock.refresh());
    if (refusal !== undefined) throw refusal;
    return true;
  }

  admit(wallMs: number): RaindropError | undefined {
    const { lease, phase } = this;
    if (phase === 'closed') return new ClosedError();
    if (lease === undefined) return new NotReadyError('none has been assigned');
    if (phase === 'lost') return new LeaseLostError(lease.workerId, 'it was lost; another one is being asked for');
    if (phase === 'held' && !lease.isOfThisProcess) this.suspect('the process id changed');
    if (this.phase === 'suspect') return new LeaseSuspectError(lease.workerId, 'its memory may live in two processes');
    return lease.refusal(wallMs);
  }

  /** Names who knows the highest position issued in this tenure, by lane: an id that comes back goes on from there. */
  reportedBy(highest: (lane: Lane) => Position): void {
    this.past.reportedBy(highest);
  }

  requestExtension(): void {}

  requestFlip(): void {}

  onChange(listener: () => void): void {
    this.changed = listener;
  }

  /** To be called when this process's memory was restored from a snapshot: a worker id is asked for anew. */
  afterRestore(): void {
    if (this.phase === 'held') this.suspect('this memory was restored from a snapshot');
  }

  /** Stops issuing for ever, then gives the id back. Never rejects. */
  close(): Promise<void> {
    return (this.closing ??= this.shutDown());
  }

  /** What is held, how long yet, and how the renewals went. */
  status(): LeaseStatus {
    const { phase, lease, base, limit, lane, lastError } = this;
    const isHeld = phase === 'held' && lease?.isLapsed === false;
    return {
      state: phase === 'held' && !isHeld ? 'lost' : phase,
      workerId: phase === 'closed' ? undefined : lease?.workerId,
      leaseLeftMs: isHeld ? lease.leftMs : 0,
      clockOffsetMs: undefined,
      ...{ lane, base, limit, ...this.tally, lastError },
    };
  }

  /** A new tenure; undefined when the assigner has none to give. @throws WorkerIdAssignerError; ClosedError */
  private async acquire(): Promise<AssignedLease | undefined> {
    const sent = momentOf(this.ports);
    const assigned = await this.calls.acquire();
    if (assigned === undefined) return undefined;
    if (this.closing !== undefined) {
      await this.calls.release(assigned);
      throw new ClosedError();
    }
    return this.begin(assigned, sent);
  }

  private begin(assigned: AssignedWorkerId, sent: Moment): AssignedLease {
    const { restartWaitMs, request } = this.setup;
    const wait = new RestartWait(request.layout, restartWaitMs, this.ports.clock.refresh());
    if (this.lease !== undefined) this.past.note(this.lease.workerId);
    this.lease = new AssignedLease(this.ports, assigned, sent, wait, this.past.of(assigned.workerId));
    this.number++;
    this.phase = 'held';
    tellQuietly(this.changed);
    this.emit({ type: this.number === 1 ? 'lease-acquired' : 'lease-regained', workerId: this.workerId });
    for (const message of assigned.warnings ?? []) this.emit({ type: 'warning', message });
    return this.lease;
  }

  /** One attempt to renew, or to get another id; answers whether it succeeded, and never rejects. */
  private async attend(): Promise<boolean> {
    try {
      if (this.phase === 'held' && this.lease?.isLapsed === false) await this.renew(this.lease);
      else if (this.phase !== 'closed') await this.replace(LAPSED);
      this.lastError = undefined;
      return true;
    } catch (error) {
      this.tally.failures++;
      this.lastError = WorkerIdAssignerError.of(this.setup.assigner.name, 'renew', error);
      this.emit({ type: 'lease-trouble', error: this.lastError });
      return false;
    }
  }

  private async renew(lease: AssignedLease): Promise<void> {
    if (lease.assigned.leaseMs === undefined) return;
    const sent = momentOf(this.ports);
    const renewed = await this.calls.renew(lease.assigned);
    this.tally.renewals++;
    const isExtended = renewed !== undefined && lease.extend(renewed, sent);
    if (renewed !== undefined && renewed.workerId !== lease.workerId) await this.calls.release(renewed);
    if (this.phase !== 'held') return;
    if (!isExtended) return this.replace(renewed === undefined ? 'its assigner says so' : LAPSED);
    const tookMs = this.ports.monotonic.now() - sent.monotonicMs;
    this.emit({ type: 'lease-renewed', workerId: lease.workerId, tookMs });
  }

  private async replace(reason: string): Promise<void> {
    if (this.phase === 'held') {
      this.phase = 'lost';
      tellQuietly(this.changed);
      this.emit({ type: 'lease-lost', workerId: this.workerId, reason });
    }
    if ((await this.acquire()) === undefined) throw new NoWorkerIdError([this.setup.assigner.name]);
  }

  private suspect(reason: string): void {
    this.phase = 'suspect';
    tellQuietly(this.changed);
    this.emit({ type: 'lease-suspect', workerId: this.workerId, reason });
    this.renewals.now();
  }

  private emit(event: LeaseEvent): void {
    tellQuietly(this.listener, event);
  }

  private async shutDown(): Promise<void> {
    const { phase } = this;
    this.phase = 'closed';
    tellQuietly(this.changed);
    await this.renewals.stop();
    const { lease } = this;
    // What may live twice, or is somebody else's by now, is not ours to give back.
    if (lease === undefined || phase !== 'held' || lease.isLapsed) return;
    await this.calls.release(lease.assigned);
    this.emit({ type: 'lease-released', workerId: lease.workerId });
  }
}
