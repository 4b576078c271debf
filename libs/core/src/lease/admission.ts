import type { RaindropError } from '../raindrop-error.js';
import type { LeasePorts } from './lease-context.js';
import { LeaseLostError, LeaseSuspectError, NotReadyError } from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';

/**
 * The generator relies on an answer until the clock's value changes, up to 1 ms later: a lease ends that much sooner.
 */
export const CLOCK_GRAIN_MS = 1;

/**
 * Decides whether a lease may issue at this moment: inside the deadline, with nothing suspicious since the last
 * confirmation, and past any probation. Once the deadline has passed the answer is no for good: since then other
 * processes may have judged the table as if this one were gone.
 */
export class Admission {
  /** Monotonic ms after which nothing is issued. */
  deadlineMs: number;
  /** How often something suspicious was seen. A confirmation clears those that were seen before its write was sent. */
  suspicions = 0;

  private clearedSuspicions = 0;
  /** Why nothing is issued until the next confirmation; undefined when IDs may be issued. */
  private blockedBy: RaindropError | undefined;
  /** Undefined once a write that was sent after it was acknowledged: the acquired row can no longer be lost then. */
  private probationUntilMs: number | undefined;
  private readonly jumpDetector: ClockJumpDetector;

  /**
   * @param sentMs monotonic ms before the write was sent that acquired the row
   * @param trusted clocks and process before that
   */
  constructor(
    private readonly ports: LeasePorts,
    private readonly options: ResolvedLeaseOptions,
    sentMs: number,
    trusted: ClockReading,
  ) {
    this.deadlineMs = sentMs + options.leaseMs;
    if (options.commitLossWindowMs > 0) this.probationUntilMs = ports.monotonic.now() + options.commitLossWindowMs;
    this.jumpDetector = new ClockJumpDetector(options, trusted);
    this.blockedBy = this.probation;
  }

  /** True while positions granted so far must not be issued any more, even after a confirmation. */
  get isSuspect(): boolean {
    return this.suspicions > this.clearedSuspicions;
  }

  get isLapsed(): boolean {
    return this.ports.monotonic.now() > this.deadlineMs - CLOCK_GRAIN_MS;
  }

  /** How long IDs may be issued without another confirmation, ms; 0 while none may be. */
  get leftMs(): number {
    return this.isLapsed || this.blockedBy !== undefined ? 0 : this.deadlineMs - this.ports.monotonic.now();
  }

  /** How long until a write can end the probation, ms: 0 when it would now; undefined when the probation has ended. */
  get probationLeftMs(): number | undefined {
    if (this.probationUntilMs === undefined) return undefined;
    return Math.max(0, this.probationUntilMs - this.ports.monotonic.now());
  }

  /** Undefined when `workerId` may issue now. */
  refusal(workerId: number): RaindropError | undefined {
    if (this.isLapsed) return new LeaseLostError(workerId, 'its lease has run out without a renewal');
    return this.blockedBy;
  }

  /** Looks for jumps of clocks and process: one blocks issuing. Answers what it was, in words. */
  checkClocks(wallMs: number, workerId: number): string | undefined {
    const reason = this.jumpDetector.findJump(readClocks(wallMs, this.ports));
    if (reason !== undefined) {
      this.suspicions++;
      this.blockedBy = new LeaseSuspectError(workerId, reason);
    }
    return reason;
  }

  /** Blocks issuing until the next confirmation. */
  block(error: RaindropError): void {
    this.blockedBy = error;
  }

  /** Blocks issuing for good. */
  end(): void {
    this.deadlineMs = Number.NEGATIVE_INFINITY;
  }

  /** The clock was found right at this moment: jumps are measured from here on. */
  trustClock(wallMs: number): void {
    this.jumpDetector.trust(readClocks(wallMs, this.ports));
  }

  /** A write that was sent at `sentMs`, after so many `suspicions`, was acknowledged. */
  confirm(sentMs: number, suspicions: number): void {
    if (this.isLapsed) return;
    this.deadlineMs = sentMs + this.options.leaseMs;
    this.clearedSuspicions = Math.max(this.clearedSuspicions, suspicions);
    // A write that was sent inside the window can be lost, however late its answer comes.
    if (this.probationUntilMs !== undefined && sentMs >= this.probationUntilMs) this.probationUntilMs = undefined;
    if (!this.isSuspect) this.blockedBy = this.probation;
  }

  /**
   * A fresh lease is on probation for `commitLossWindowMs` while its acknowledged commit can still be lost, with or
   * without a failover. What a failover did lose is another matter: the store then bars its rows (`barredUntilMs`).
   */
  private get probation(): RaindropError | undefined {
    return this.probationUntilMs !== undefined ? new NotReadyError('a fresh lease is on probation') : undefined;
  }
}

/** The clocks and the process at one moment: a jump of any of them makes a lease suspect. */
export interface ClockReading {
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly processId: number;
}

/** @param wallMs what the wall clock says now */
export function readClocks(wallMs: number, { monotonic, processId }: LeasePorts): ClockReading {
  return { wallMs, monotonicMs: monotonic.now(), processId: processId() };
}

/** Detects a wall clock that was put forward, a suspended process, and a copy of its memory in another process. */
export class ClockJumpDetector {
  private last: ClockReading;
  /** The smallest difference of wall and monotonic clock since the wall clock was last known to be right. */
  private offset: number;

  constructor(
    private readonly options: Pick<ResolvedLeaseOptions, 'maxClockSkewMs' | 'leaseMs'>,
    trusted: ClockReading,
  ) {
    this.last = trusted;
    this.offset = trusted.wallMs - trusted.monotonicMs;
  }

  /** Takes the reading as right: its clock was compared with the database's. */
  trust(reading: ClockReading): void {
    this.last = reading;
    this.offset = reading.wallMs - reading.monotonicMs;
  }

  /** Describes an event since the last reading, once; undefined when there was none. */
  findJump(reading: ClockReading): string | undefined {
    const { last } = this;
    const offset = reading.wallMs - reading.monotonicMs;
    const jump = offset - this.offset;
    const jumped = jump > this.options.maxClockSkewMs;
    this.last = reading;
    this.offset = jumped ? offset : Math.min(this.offset, offset);
    if (reading.processId !== last.processId) return 'its process was copied or restored from a snapshot';
    if (jumped) return `the clock jumped forward by ${Math.round(jump)} ms`;
    // The lease has run out by then. It is suspect all the same, so that its release writes the odometers of all grants.
    const still = reading.monotonicMs - last.monotonicMs;
    if (still > this.options.leaseMs) return `the process was paused for ${Math.round(still)} ms`;
    return undefined;
  }
}
