import type { LeasePorts } from './lease-context.js';
import { ClosedError, LayoutConflictError, NoFreeWorkerError, StoreUnavailableError } from './lease-errors.js';

/** How often in a row a step is tried. */
const TRIES = 3;

/** How long somebody waits who starts, and how. */
export interface Insistence {
  readonly ports: Pick<LeasePorts, 'monotonic' | 'randomness'>;
  readonly waitForWorkerMs: number;
  readonly isEnded: () => boolean;
  readonly pause: (ms: number) => Promise<void>;
  /** Hears of every try that a store which may have lost something has barred. */
  readonly barred?: (error: NoFreeWorkerError) => void;
}

/**
 * Takes a step of a start, once more after what may pass by itself: a blip of the database, a crowd of starters, a store
 * that bars its rows after a loss, and all taken if so wanted.
 * @throws what the step throws at last; ClosedError when the start is ended
 */
export async function insist<T>(step: () => Promise<T>, insistence: Insistence): Promise<T> {
  const { ports, waitForWorkerMs, isEnded, pause, barred } = insistence;
  const giveUpAt = ports.monotonic.now() + waitForWorkerMs;
  for (let failures = 0, barredForMs = 0; ; await pause(pauseMs(ports, barredForMs))) {
    if (isEnded()) throw new ClosedError();
    try {
      return await step();
    } catch (error) {
      const allTaken = error instanceof NoFreeWorkerError;
      const passes = allTaken || (error instanceof LayoutConflictError && error.retryable);
      const mayRetry = allTaken ? error.census.contended > 0 : error instanceof StoreUnavailableError;
      const isBarred = allTaken && error.barredForMs > 0;
      barredForMs = isBarred ? error.barredForMs : 0;
      if (isBarred) barred?.(error);
      if (isBarred || (passes && ports.monotonic.now() < giveUpAt)) failures = 0;
      else if (!mayRetry || ++failures >= TRIES) throw error;
    }
  }
}

/** While a store bars its rows, it is asked no more often than this, ms. */
const BARRED_PAUSE_MS = 5_000;

/** How long to wait before the next try, ms: at random, so that many starters do not meet again. */
export function pauseMs({ randomness }: Pick<LeasePorts, 'randomness'>, barredForMs = 0): number {
  return Math.min(barredForMs, BARRED_PAUSE_MS) + 200 + 600 * randomness.fraction();
}
