import { RaindropError, type MonotonicClock } from '@raindrop/core';
import { RemoteIdsRefusedError } from './remote-errors.js';

/** The most requests that all codes of a client have under way together. */
const MOST_AT_ONCE = 32;

/** The pauses after failures, ms: those of the attempts of one code. */
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
 * Limits the requests of all codes of a client to one service. At most 32 are under way; the others wait for their
 * turn.
 *
 * While the service fails, one request after each pause finds out whether it still does, and the pauses grow. All other
 * requests fail at once, with the error of the last one that was sent. Example: with pauses of 100 ms and more, and 500
 * codes, a service that is down gets one request after 50 ms, 100 ms, 200 ms and so on, not 500. No request is sent
 * before the time that the service itself has named (`Retry-After`).
 */
export class RequestGate {
  private underWay = 0;
  private readonly queue = new Set<Queued>();
  /** The last failure: requests that are not sent fail with it. */
  private reason: unknown;
  /** Monotonic ms until which the service has asked for a pause. */
  private pauseAskedUntil = Number.NEGATIVE_INFINITY;
  /** Monotonic ms until which the service is left alone because it failed. */
  private failedUntil = Number.NEGATIVE_INFINITY;
  private failuresInARow = 0;
  /** Counts failures. Requests that were sent in one round and failed together are one failure. */
  private round = 0;

  constructor(
    private readonly monotonic: MonotonicClock,
    private readonly options: GateOptions,
  ) {}

  /**
   * Makes a request when it is its turn.
   * @param signal ends the wait
   * @throws what the call throws; the last failure of the service while it is left alone
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
      const giveUp = (): void => queued.refuse(new Error('too many requests were ahead of it'));
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

  /** True while no further request may be sent. */
  private get isResting(): boolean {
    const now = this.monotonic.now();
    return now < this.pauseAskedUntil || now < this.failedUntil || (this.failuresInARow > 0 && this.underWay > 0);
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
      this.pauseAskedUntil = Math.max(this.pauseAskedUntil, now + error.retryAfterMs);
    }
    if (round !== this.round) return;
    this.round++;
    const { retryBaseMs, retryMaxMs } = this.options;
    // The pause of a code itself is at least this long, half of its longest: a single code waits for one pause only.
    this.failedUntil = now + Math.min(retryMaxMs, retryBaseMs * 2 ** this.failuresInARow++) / 2;
  }
}

/**
 * True when an error concerns one request and not the service: it is not retryable, or a code has used its sequence up.
 */
function isOfOneRequest(error: unknown): boolean {
  return error instanceof RaindropError && (!error.retryable || error.errorCode === 'SEQUENCE_EXHAUSTED');
}
