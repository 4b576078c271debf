import type { RaindropError } from '../raindrop-error.js';
import { ClockWatch } from './clock-watch.js';
import type { LeasePorts } from './lease-context.js';
import { LeaseLostError, LeaseSuspectError, NotReadyError } from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';

/**
 * Decides whether a held worker may issue at this moment: inside the deadline, with nothing suspicious since the last
 * confirmation, and past any probation.
 */
export class Admission {
  /** Monotonic ms after which nothing is issued. */
  deadlineMs = Number.NEGATIVE_INFINITY;
  /** How often something suspicious was seen; a confirmation clears what was seen before it was asked for. */
  suspicions = 0;

  private confirmed = 0;
  private bar: RaindropError | undefined;
  private probationUntilMs = Number.NEGATIVE_INFINITY;
  private readonly watch: ClockWatch;

  constructor(
    private readonly ports: LeasePorts,
    private readonly options: ResolvedLeaseOptions,
  ) {
    this.watch = new ClockWatch(options);
  }

  /** True while what was granted so far must not be used any more, even after a confirmation. */
  get isSuspect(): boolean {
    return this.suspicions > this.confirmed;
  }

  get isLapsed(): boolean {
    return this.ports.monotonic.now() > this.deadlineMs;
  }

  /** How long probation still lasts, ms; 0 or less when it is over. */
  get probationLeftMs(): number {
    return this.probationUntilMs - this.ports.monotonic.now();
  }

  /** Undefined when `workerId` may issue now. */
  refusal(workerId: number): RaindropError | undefined {
    if (this.isLapsed) return new LeaseLostError(workerId, 'its lease has run out without a renewal');
    return this.bar;
  }

  /** Looks at clock and process; what is suspicious bars issuing. Answers with what it was, in words. */
  look(wallMs: number, workerId: number): string | undefined {
    const reason = this.watch.look({
      wallMs,
      monotonicMs: this.ports.monotonic.now(),
      processId: this.ports.processId(),
    });
    if (reason !== undefined) this.suspect(workerId, reason);
    return reason;
  }

  suspect(workerId: number, reason: string): void {
    this.suspicions++;
    this.bar = new LeaseSuspectError(workerId, reason);
  }

  /** Bars issuing until the next confirmation. */
  barWith(error: RaindropError): void {
    this.bar = error;
  }

  /** The clock was found right at this moment: jumps are measured from here. */
  trustClock(wallMs: number, monotonicMs: number): void {
    this.watch.confirm({ wallMs, monotonicMs, processId: this.ports.processId() });
  }

  /** A write sent at `sentMs`, when there had been `suspicions`, was acknowledged. */
  confirm(sentMs: number, suspicions: number): void {
    // A fresh lease, and a lapsed one that is revived, is on probation where a commit can still be lost.
    if (this.isLapsed && this.options.commitLossWindowMs > 0) {
      this.probationUntilMs = this.ports.monotonic.now() + this.options.commitLossWindowMs;
    }
    this.deadlineMs = sentMs + this.options.leaseMs;
    this.confirmed = Math.max(this.confirmed, suspicions);
    if (this.isSuspect) return;
    this.bar = this.probationLeftMs > 0 ? new NotReadyError('a fresh lease is on probation') : undefined;
  }
}
