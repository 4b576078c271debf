import { RaindropError } from '@raindrop/core';
import { hostTimers } from '../system/host-timers.js';

/** Eight processes that created one table at once needed three tries at most; each looks before it acts. */
const TRIES = 5;
const FIRST_PAUSE_MS = 20;

/** Tries again, with a growing and random pause, what failed because others did the same at the same time. */
export async function retried(attempt: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const isFinal = error instanceof RaindropError && !error.retryable;
      if (isFinal || tries === TRIES) throw error;
      await hostTimers.sleep(FIRST_PAUSE_MS * tries * (1 + Math.random()));
    }
  }
}
