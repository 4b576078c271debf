import { pause } from '../async.js';
import type { MonotonicClock, Randomness, Timers } from '../ports.js';
import { ClosedError, LayoutConflictError, NoFreeWorkerError, StoreUnavailableError } from './lease-errors.js';

/** How often in a row a step may fail. */
const MAX_FAILURES = 3;

/** How a step of a start is tried again. */
interface RetryPolicy {
  readonly ports: { readonly monotonic: MonotonicClock; readonly randomness: Randomness };
  /** How long worker ids that are all taken, and layouts that only have to pass, are waited for. */
  readonly waitForWorkerMs: number;
  readonly isCancelled: () => boolean;
  readonly pause: (ms: number) => Promise<void>;
  /** Called after each try that failed because the store bars its rows: it may have lost commits. */
  readonly onBarred?: (error: NoFreeWorkerError) => void;
}

/** For a caller that waits for no worker id, and is not cancelled. */
export function noWaitPolicy(ports: RetryPolicy['ports'] & { readonly timers: Timers }): RetryPolicy {
  return {
    ports,
    waitForWorkerMs: 0,
    isCancelled: () => false,
    pause: (ms) => pause(ports.timers, ms, 'foreground'),
  };
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
  const { ports, waitForWorkerMs, isCancelled, onBarred } = policy;
  const giveUpAt = ports.monotonic.now() + waitForWorkerMs;
  for (let failures = 0, barredForMs = 0; ; await policy.pause(startPauseMs(ports.randomness, barredForMs))) {
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
