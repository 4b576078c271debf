import type { Timer } from '../time/timers.js';
import type { LeasePorts } from './lease-context.js';

/** Renewals that are asked for follow each other no faster than this. */
const MIN_PAUSE_MS = 20;

/** While the lease is in danger, attempts are at most this far apart. */
const RETRY_MS = 800;

/** Says when the next attempt is made: one timer, one attempt at a time. */
export class RenewalClock {
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private askedMeanwhile = false;
  private failing = false;
  private stopped = false;

  /**
   * @param attempt answers whether it succeeded; one that rejects has failed
   * @param atMostMs how long the next pause may be at most, whatever the heartbeat
   */
  constructor(
    private readonly ports: Pick<LeasePorts, 'timers' | 'randomness'>,
    private readonly heartbeatIntervalMs: number,
    private readonly attempt: () => Promise<boolean>,
    private readonly atMostMs: () => number,
  ) {}

  /** True when an attempt is under way or about to be made. */
  get isBusy(): boolean {
    return this.running !== undefined || (this.askedMeanwhile && !this.failing);
  }

  start(): void {
    if (!this.askedMeanwhile) this.schedule(this.pauseAfter(true));
  }

  /** Brings the next attempt forward; while attempts fail they keep their own pace. */
  soon(): void {
    if (this.askedMeanwhile) return;
    this.askedMeanwhile = true;
    if (this.running === undefined && !this.failing) this.schedule(MIN_PAUSE_MS);
  }

  /** An attempt at once, or after the one under way. */
  now(): void {
    this.askedMeanwhile = true;
    if (this.running === undefined) this.schedule(0);
  }

  /** No further attempt; settles when the one under way has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.running;
  }

  private schedule(delayMs: number): void {
    this.timer?.cancel();
    if (this.stopped) return;
    this.timer = this.ports.timers.setTimer(() => this.run(), delayMs, 'background');
  }

  private run(): void {
    if (this.running !== undefined || this.stopped) return;
    this.askedMeanwhile = false;
    const attempt = this.attempt().catch(() => false);
    this.running = attempt.then((succeeded) => {
      this.running = undefined;
      this.failing = !succeeded;
      this.schedule(this.askedMeanwhile && succeeded ? MIN_PAUSE_MS : this.pauseAfter(succeeded));
    });
  }

  /** A tenth of jitter keeps many processes from renewing together. */
  private pauseAfter(succeeded: boolean): number {
    const pause = succeeded ? this.heartbeatIntervalMs : Math.min(this.heartbeatIntervalMs, RETRY_MS);
    return Math.min(pause * (1 - this.ports.randomness.fraction() / 10), this.atMostMs());
  }
}
