import type { LeaseEvent, ResolvedLayout } from '@raindrop/core';
import { logContext, type Logger } from '../ports/logger.js';

/** Writes the events of a lease to the log. A failure that repeats at each attempt is written once. */
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
        // Renewals come every few seconds, and Nest logs all levels by default: an application can listen to the event.
        return;
      case 'lease-lost':
        return void logger.error(
          `Worker ${event.workerId} lost: ${event.reason}. No IDs until a worker is acquired`,
          undefined,
          context,
        );
      case 'lease-suspect':
        return void logger.warn(`Worker ${event.workerId} must confirm its lease: ${event.reason}`, context);
      case 'clock-back':
        return void logger.warn(`The clock went back; worker ${event.workerId} changed to lane ${event.lane}`, context);
      case 'database-regression':
        return void logger.error(event.error.message, undefined, context);
      case 'lease-trouble':
        return void logger.warn(event.error.message, context);
      case 'warning':
        return void logger.warn(event.message, context);
    }
  };
}

/** The log's line at a start: how long the layout lasts, how many IDs a second it allows, and how many workers. */
export function startLine({ layout, workers }: ResolvedLayout, nowMs: number): string {
  const { expiresAt, safeUntil, idsPerSecond, fingerprint } = layout;
  const count = workers.max - workers.min + 1;
  const isExact = safeUntil !== null && safeUntil.getTime() > nowMs;
  const numbers = isExact
    ? `, exact JavaScript numbers ${isSame(safeUntil, expiresAt) ? 'all the time' : until(safeUntil)}`
    : '';
  return (
    `IDs ${until(expiresAt)}${numbers}; ${shown(idsPerSecond)} a second and process; ` +
    `${shown(count)} worker id${count === 1 ? '' : 's'} (layout ${fingerprint})`
  );
}

function until(moment: Date | null): string {
  return moment === null ? 'beyond the year 275760' : `until ${moment.toISOString().slice(0, 10)}`;
}

function isSame(one: Date, other: Date | null): boolean {
  return one.getTime() === other?.getTime();
}

/**
 * With commas between thousands. Layouts in coarse units allow less than one ID a second: those keep two digits, such as
 * 0.28. The first `toLocaleString()` of a process takes 4 ms, and the first ID would wait for it.
 */
function shown(count: number): string {
  const [whole, ...fraction] = String(count < 10 ? Number(count.toPrecision(2)) : count).split('.');
  return [whole!.replaceAll(/\B(?=(?:\d{3})+$)/g, ','), ...fraction].join('.');
}
