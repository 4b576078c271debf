import { Deadline } from '../async.js';
import type { MonotonicClock, Randomness, Timer, Timers } from '../ports.js';
import { RaindropError } from '../raindrop-error.js';
import {
  ClockSkewError,
  ClosedError,
  LayoutConflictError,
  NoFreeWorkerError,
  StoreUnavailableError,
} from './lease-errors.js';
import type { WorkerStore } from './worker-store.js';

/** Puts a deadline on every call of a store. Past it the connection is dropped and the outcome stays unknown. */
export class StoreSession {
  private readonly pending = new Set<Deadline>();
  private ending: Timer | undefined;
  private isOver = false;

  constructor(
    private readonly store: WorkerStore,
    private readonly timers: Timers,
    private readonly opTimeoutMs: number,
  ) {}

  /**
   * Makes a call of the store.
   * @throws StoreUnavailableError for every failure, the deadline included: whether it was executed is unknown;
   * ClockSkewError; the store's own error when it is not retryable
   */
  async run<T>(what: string, call: (store: WorkerStore) => Promise<T>, timeoutMs = this.opTimeoutMs): Promise<T> {
    if (this.isOver) throw new StoreUnavailableError(what, new Error('there was no time left for it'));
    const deadline = new Deadline(timeoutMs, this.timers, () => this.store.abandon());
    this.pending.add(deadline);
    try {
      return await deadline.run(() => call(this.store));
    } catch (error) {
      // An error that no second try can mend keeps its name, and so does a clock that is wrong.
      if (error instanceof RaindropError && (!error.retryable || error instanceof ClockSkewError)) throw error;
      throw new StoreUnavailableError(what, error);
    } finally {
      this.pending.delete(deadline);
    }
  }

  /** Makes the next call go over a new connection: it leads to the server that is the primary then. */
  reconnect(): void {
    this.store.abandon();
  }

  /** Gives the calls under way, and all later ones but {@link close}, so much time together; then they fail. */
  endWithin(ms: number): void {
    const end = (): void => {
      this.isOver = true;
      for (const deadline of this.pending) deadline.expire();
    };
    this.ending ??= this.timers.setTimer(end, ms, 'background');
  }

  /** Never rejects: a connection that cannot be closed is dropped. */
  async close(): Promise<void> {
    this.ending?.cancel();
    this.isOver = false;
    try {
      await this.run('closing', (store) => store.close());
    } catch {
      this.store.abandon();
    }
  }
}

/** @throws ForeignTimeZoneError, StoreUnavailableError */
export function checkForeignTimes(session: StoreSession): Promise<void> {
  return session.run('comparing time zones', async (store) => store.checkForeignTimes?.());
}

/** How often in a row a step may fail. */
const MAX_FAILURES = 3;

/** How a step of a start is tried again. */
export interface RetryPolicy {
  readonly ports: { readonly monotonic: MonotonicClock; readonly randomness: Randomness };
  /** How long worker ids that are all taken, and layouts that only have to pass, are waited for. */
  readonly waitForWorkerMs: number;
  readonly isCancelled: () => boolean;
  readonly pause: (ms: number) => Promise<void>;
  /** Called after each try that failed because the store bars its rows: it may have lost commits. */
  readonly onBarred?: (error: NoFreeWorkerError) => void;
}

/**
 * Takes a step of a start, and tries again after what may pass by itself.
 *
 * - A store that bars its rows after a loss is waited for without limit.
 * - Worker ids that are all taken, and layouts that only have to pass, are waited for `waitForWorkerMs`.
 * - A failure of the database, and a round in which other starters took every free row, may happen three times in a
 *   row.
 * @throws what the step threw last; ClosedError when the start is cancelled
 */
export async function retryStartStep<T>(step: () => Promise<T>, policy: RetryPolicy): Promise<T> {
  const { ports, waitForWorkerMs, isCancelled, pause, onBarred } = policy;
  const giveUpAt = ports.monotonic.now() + waitForWorkerMs;
  for (let failures = 0, barredForMs = 0; ; await pause(startPauseMs(ports.randomness, barredForMs))) {
    if (isCancelled()) throw new ClosedError();
    try {
      return await step();
    } catch (error) {
      const allTaken = error instanceof NoFreeWorkerError;
      const passes = allTaken || (error instanceof LayoutConflictError && error.retryable);
      const mayRetry = allTaken ? error.census.contended > 0 : error instanceof StoreUnavailableError;
      const isBarred = allTaken && error.barredForMs > 0;
      barredForMs = isBarred ? error.barredForMs : 0;
      if (isBarred) onBarred?.(error);
      if (isBarred || (passes && ports.monotonic.now() < giveUpAt)) failures = 0;
      else if (!mayRetry || ++failures >= MAX_FAILURES) throw error;
    }
  }
}

/** A store that bars its rows is asked again after this at the latest, ms. */
const BARRED_PAUSE_MS = 5_000;

/** The pause of a start before its next try, ms: at random, so that many starters do not meet again. */
export function startPauseMs(randomness: Randomness, barredForMs = 0): number {
  return Math.min(barredForMs, BARRED_PAUSE_MS) + 200 + 600 * randomness.fraction();
}
