import type { LeaseEvent } from '@raindrop/core';
import { logContext, type Logger } from '../ports/logger.js';

/** Writes what happens to a lease to the log: once for each trouble, not once for each attempt. */
export function logLease(logger: Logger, service: string): (event: LeaseEvent) => void {
  const context = logContext(service);
  let lastTrouble: string | undefined;
  return (event) => {
    if (event.type !== 'lease-trouble') {
      lastTrouble = undefined;
    } else if (event.error.errorCode === lastTrouble) {
      return;
    } else lastTrouble = event.error.errorCode;
    switch (event.type) {
      case 'lease-acquired':
        return void logger.log(`Worker ${event.workerId} acquired`, context);
      case 'lease-regained':
        return void logger.log(`Worker ${event.workerId} is held again`, context);
      case 'lease-released':
        return void logger.log(`Worker ${event.workerId} released`, context);
      case 'lease-renewed':
        // Every few seconds, and Nest shows all levels by default: who wants to see them listens to the event.
        return;
      case 'lease-lost':
        return void logger.error(
          `Worker ${event.workerId} lost: ${event.reason}. No IDs until it is regained`,
          undefined,
          context,
        );
      case 'lease-suspect':
        return void logger.warn(`Worker ${event.workerId} confirms its lease first: ${event.reason}`, context);
      case 'clock-back':
        return void logger.warn(
          `The clock went back; worker ${event.workerId} went over to lane ${event.lane}`,
          context,
        );
      case 'database-regression':
        return void logger.error(event.error.message, undefined, context);
      case 'lease-trouble':
        return void logger.warn(event.error.message, context);
      case 'warning':
        return void logger.warn(event.message, context);
    }
  };
}
