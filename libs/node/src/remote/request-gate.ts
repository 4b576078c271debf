import { RaindropError, type MonotonicClock } from '@raindrop/core';
import { RemoteIdsRefusedError } from './remote-errors.js';

/** As many connections as all codes of a client take together. */
const MOST_AT_ONCE = 32;

/** How long a service that failed is left alone, ms; as for the attempts of one code. */
export interface GateOptions {
  readonly retryBaseMs: number;
  readonly retryMaxMs: number;
}

/** A request that waits for its turn. */
interface Queued {
  readonly admit: () => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * Stands before a service, for all codes together, however many there are: at most 32 requests are under way, the others
 * wait for their turn. While the service fails one is enough to find out whether it still does, with growing pauses in
 * between, and none goes out before the time that the service itself has named; the others fail with what it failed with.
 */
export class RequestGate {
  private underWay = 0;
  private readonly queue = new Set<Queued>();
  /** Why the service is left alone. */
  private reason: unknown;
  /** Until when: because it said so, and because it failed. */
  private askedForUntil = Number.NEGATIVE_INFINITY;
  private failedUntil = Number.NEGATIVE_INFINITY;
  /** Requests that went out together and failed together are one failure. */
  private failuresInARow = 0;
  private round = 0;

  constructor(
    private readonly monotonic: MonotonicClock,
    private readonly options: GateOptions,
  ) {}

  /**
   * Makes a request when it is its turn.
   * @param signal gives up waiting for it
   * @throws what the call throws, or what an earlier one did while the service is left alone
   */
  async pass<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const turn = this.turn(signal);
    if (turn !== undefined) await turn;
    const { round } = this;
    try {
      const answer = await call();
      this.answered();
      return answer;
    } catch (error) {
      if (isOfOneRequest(error)) this.answered();
      else this.failed(error, round);
      throw error;
    } finally {
      this.underWay--;
      this.proceed();
    }
  }

  private turn(signal: AbortSignal): Promise<void> | undefined {
    if (this.isResting) throw this.reason;
    if (this.underWay < MOST_AT_ONCE) return void this.underWay++;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.queue.delete(queued);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = (): void => queued.refuse(new Error('too many requests were before it'));
      const queued: Queued = {
        admit: () => {
          leave();
          this.underWay++;
          resolve();
        },
        refuse: (reason) => {
          leave();
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it was thrown
          reject(reason);
        },
      };
      this.queue.add(queued);
      signal.addEventListener('abort', giveUp);
    });
  }

  /** Nobody is let through now. */
  private get isResting(): boolean {
    const now = this.monotonic.now();
    return now < this.askedForUntil || now < this.failedUntil || (this.failuresInARow > 0 && this.underWay > 0);
  }

  private proceed(): void {
    for (const queued of this.queue) {
      if (this.isResting) queued.refuse(this.reason);
      else if (this.underWay < MOST_AT_ONCE) queued.admit();
      else return;
    }
  }

  private answered(): void {
    this.failuresInARow = 0;
    this.failedUntil = Number.NEGATIVE_INFINITY;
  }

  private failed(error: unknown, round: number): void {
    const now = this.monotonic.now();
    this.reason = error;
    if (error instanceof RemoteIdsRefusedError && error.retryAfterMs !== undefined) {
      this.askedForUntil = Math.max(this.askedForUntil, now + error.retryAfterMs);
    }
    if (round !== this.round) return;
    this.round++;
    const { retryBaseMs, retryMaxMs } = this.options;
    // Half of the longest pause of a single code, which is the shortest: with one code nothing is waited for twice.
    this.failedUntil = now + Math.min(retryMaxMs, retryBaseMs * 2 ** this.failuresInARow++) / 2;
  }
}

/** Whether an error says nothing of the service: it cannot pass by itself, or one code has used its sequence up. */
function isOfOneRequest(error: unknown): boolean {
  return error instanceof RaindropError && (!error.retryable || error.errorCode === 'SEQUENCE_EXHAUSTED');
}
