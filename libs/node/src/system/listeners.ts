import type { EventEmitter } from 'node:events';
import type { LeaseEvent } from '@raindrop/core';

/**
 * Emits an event to every listener of its type. A listener that throws, or whose promise rejects, becomes a process
 * warning; the other listeners are called all the same. Node's `captureRejections` would emit an 'error' event, which
 * ends a process that does not listen to it.
 */
export function emitSafely(events: EventEmitter, event: LeaseEvent): void {
  for (const listener of events.rawListeners(event.type)) {
    guarded(`A listener of '${event.type}'`, () => Reflect.apply(listener, events, [event]) as unknown);
  }
}

/**
 * Calls a function of the application from a timer or in the middle of a renewal, where no caller could catch its
 * error. What it throws, or rejects with, becomes a process warning.
 * @param who the function, at the beginning of the warning: `A listener of 'lease-lost'`
 */
export function guarded(who: string, call: () => unknown): void {
  const report = (error: unknown): void => process.emitWarning(`${who} threw: ${wordsOf(error)}`, 'RaindropWarning');
  try {
    Promise.resolve(call()).catch(report);
  } catch (error) {
    report(error);
  }
}

/** The message of what was thrown. Reading it may throw as well: it can be a proxy, or have a getter that throws. */
function wordsOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.message}` : `a value that is not an Error (${typeof error})`;
  } catch {
    return 'something without a message';
  }
}
