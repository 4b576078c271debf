import type { Timers } from '@raindrop/core';

/** Does not keep the process alive. */
export function sleep(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.setTimer(resolve, ms, 'background'));
}
