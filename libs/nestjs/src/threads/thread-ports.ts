import { atomicChanges, type MonotonicClock, type RingPorts } from '@raindrop/core';
import type { LoggerService } from '@nestjs/common';
import { systemPorts } from '../system/system-ports.js';

/** `performance.now()` counts from the start of its thread; the operating system's clock behind it is everybody's. */
const THREAD_STARTED = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds that are the same in all threads of the process. */
const processClock: MonotonicClock = { now: () => THREAD_STARTED + performance.now() };

/** What either side of a ring needs of this thread. */
export function threadPorts(logger: Pick<LoggerService, 'warn'>): RingPorts {
  const { clock, timers } = systemPorts('turn');
  const warn = (message: string): void => {
    try {
      logger.warn(message, 'Raindrop:ring');
    } catch (error) {
      // Nobody could catch it: it is called from timers.
      process.emitWarning(`The logger threw: ${String(error)}; it was told: ${message}`, 'RaindropWarning');
    }
  };
  return { clock, timers, monotonic: processClock, changes: atomicChanges, warn };
}
