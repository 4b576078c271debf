import { RaindropError } from '@raindrop/core';

/**
 * What `now` answers; when it is refused for the moment, what `soon` waits for. A twentieth of a request for one ID is
 * saved: promises take longer than the ID.
 */
export function nowOrSoon<Answer>(now: () => Answer, soon: () => Promise<Answer>): Answer | Promise<Answer> {
  try {
    return now();
  } catch (error) {
    if (error instanceof RaindropError && error.retryable) return soon();
    throw error;
  }
}
