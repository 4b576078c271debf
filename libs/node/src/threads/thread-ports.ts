import { atomicChanges } from '@raindrop/core/internal';
import type { MonotonicClock, RingPorts } from '@raindrop/core';
import type { Logger } from '../ports/logger.js';
import { guarded } from '../system/guarded.js';
import { systemPorts } from '../system/system-ports.js';
import { monotonicClock } from '../system/system-clock.js';

/** `performance.now()` counts from the start of its thread; the operating system's clock behind it is everybody's. */
const THREAD_STARTED = Number(process.hrtime.bigint()) / 1e6 - monotonicClock.now();

/** Milliseconds that are the same in all threads of the process. */
const processClock: MonotonicClock = { now: () => THREAD_STARTED + monotonicClock.now() };

/** What either side of a ring needs of this thread. */
export function threadPorts(logger: Pick<Logger, 'warn'>): RingPorts {
  const { clock, timers } = systemPorts('turn');
  const warn = (message: string): void =>
    guarded(`The logger, which was told '${message}',`, () => logger.warn(message, 'Raindrop:ring'));
  return { clock, timers, monotonic: processClock, changes: atomicChanges, warn };
}
