import type { RaindropError } from '../raindrop-error.js';
import type { LeasePorts } from './lease-context.js';
import { LeaseLostError, LeaseSuspectError, NotReadyError } from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';

/** The answer holds until the clock's value changes, up to a millisecond later: it ends so much sooner. */
export const CLOCK_GRAIN_MS = 1;

/**
 * Decides whether a held worker may issue at this moment: inside the deadline, with nothing suspicious since the last
 * confirmation, and past any probation. Once the deadline has passed the answer is no for good: meanwhile others may have
 * judged the table without us.
 */
export class Admission {
  /** Monotonic ms after which nothing is issued. */
  deadlineMs: number;
  /** How often something suspicious was seen; a confirmation clears what was seen before it was asked for. */
  suspicions = 0;

  private confirmed = 0;
  private blockedBy: RaindropError | undefined;
  /** Undefined once a write sent past it was acknowledged: from then on what was acquired can no longer be lost. */
  private probationUntilMs: number | undefined;
  private readonly jumps: ClockJumpDetector;

  /**
   * @param sentMs monotonic ms before the write was sent that acquired the row
   * @param trusted clock and process before that
   */
  constructor(
    private readonly ports: LeasePorts,
    private readonly options: ResolvedLeaseOptions,
    sentMs: number,
    trusted: ClockReading,
  ) {
    this.deadlineMs = sentMs + options.leaseMs;
    if (options.commitLossWindowMs > 0) this.probationUntilMs = ports.monotonic.now() + options.commitLossWindowMs;
    this.jumps = new ClockJumpDetector(options, trusted);
    this.blockedBy = this.probation;
  }

  /** True while what was granted so far must not be used any more, even after a confirmation. */
  get isSuspect(): boolean {
    return this.suspicions > this.confirmed;
  }

  get isLapsed(): boolean {
    return this.ports.monotonic.now() > this.deadlineMs - CLOCK_GRAIN_MS;
  }

  /** How long IDs may be issued without another confirmation, ms; 0 while none may be. */
  get leftMs(): number {
    return this.isLapsed || this.blockedBy !== undefined ? 0 : this.deadlineMs - this.ports.monotonic.now();
  }

  /** How long to wait before a write ends the probation, ms: 0 when it would now; undefined when it has ended. */
  get probationLeftMs(): number | undefined {
    if (this.probationUntilMs === undefined) return undefined;
    return Math.max(0, this.probationUntilMs - this.ports.monotonic.now());
  }

  /** Undefined when `workerId` may issue now. */
  refusal(workerId: number): RaindropError | undefined {
    if (this.isLapsed) return new LeaseLostError(workerId, 'its lease has run out without a renewal');
    return this.blockedBy;
  }

  /** Looks at clock and process; what is suspicious bars issuing. Answers with what it was, in words. */
  checkClocks(wallMs: number, workerId: number): string | undefined {
    const reason = this.jumps.findJump(readClocks(wallMs, this.ports));
    if (reason !== undefined) {
      this.suspicions++;
      this.blockedBy = new LeaseSuspectError(workerId, reason);
    }
    return reason;
  }

  /** Bars issuing until the next confirmation. */
  block(error: RaindropError): void {
    this.blockedBy = error;
  }

  /** Bars issuing for good. */
  end(): void {
    this.deadlineMs = Number.NEGATIVE_INFINITY;
  }

  /** The clock was found right at this moment: jumps are measured from here. */
  trustClock(wallMs: number): void {
    this.jumps.trust(readClocks(wallMs, this.ports));
  }

  /** A write sent at `sentMs`, when there had been `suspicions`, was acknowledged. */
  confirm(sentMs: number, suspicions: number): void {
    if (this.isLapsed) return;
    this.deadlineMs = sentMs + this.options.leaseMs;
    this.confirmed = Math.max(this.confirmed, suspicions);
    // What was executed inside the window can be lost, however late its answer comes.
    if (this.probationUntilMs !== undefined && sentMs >= this.probationUntilMs) this.probationUntilMs = undefined;
    if (!this.isSuspect) this.blockedBy = this.probation;
  }

  /** A fresh lease is on probation where an acknowledged commit can still be lost. */
  private get probation(): RaindropError | undefined {
    return this.probationUntilMs !== undefined ? new NotReadyError('a fresh lease is on probation') : undefined;
  }
}

/** A look at everything whose jump makes a lease suspect. */
export interface ClockReading {
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly processId: number;
}

/** A glance at this moment, when the wall clock reads `wallMs`. */
export function readClocks(wallMs: number, { monotonic, processId }: LeasePorts): ClockReading {
  return { wallMs, monotonicMs: monotonic.now(), processId: processId() };
}

/** Sees what happens to a process from outside: a wall clock put forward, a suspension, a copy of its memory. */
export class ClockJumpDetector {
  private last: ClockReading;
  /** The smallest difference of wall and monotonic clock since it was last known to be right. */
  private offset: number;

  constructor(
    private readonly options: Pick<ResolvedLeaseOptions, 'maxClockSkewMs' | 'leaseMs'>,
    trusted: ClockReading,
  ) {
    this.last = trusted;
    this.offset = trusted.wallMs - trusted.monotonicMs;
  }

  /** Takes the present as right: called when the clock was held against the database's. */
  trust(glance: ClockReading): void {
    this.last = glance;
    this.offset = glance.wallMs - glance.monotonicMs;
  }

  /** What has happened since the last look, in words, once; undefined when nothing has. */
  findJump(glance: ClockReading): string | undefined {
    const { last } = this;
    const offset = glance.wallMs - glance.monotonicMs;
    const jump = offset - this.offset;
    const jumped = jump > this.options.maxClockSkewMs;
    this.last = glance;
    this.offset = jumped ? offset : Math.min(this.offset, offset);
    if (glance.processId !== last.processId) return 'its process was copied or restored from a snapshot';
    if (jumped) return `the clock jumped forward by ${Math.round(jump)} ms`;
    const still = glance.monotonicMs - last.monotonicMs;
    if (still > this.options.leaseMs) return `the process stood still for ${Math.round(still)} ms`;
    return undefined;
  }
}
