import type { EventEmitter } from 'node:events';
import type { LeaseEvent } from '@raindrop/core';

/**
 * Emits an event to every listener by itself: one that throws, or whose promise rejects, is reported as a process
 * warning and is nobody else's trouble. `captureRejections` would answer with an 'error' event, which ends a process
 * that does not listen to it.
 */
export function tellListeners(events: EventEmitter, event: LeaseEvent): void {
  for (const listener of events.rawListeners(event.type)) {
    tellListener(event, () => Reflect.apply(listener, events, [event]) as unknown);
  }
}

/** Calls one listener of an event. */
export function tellListener({ type }: LeaseEvent, listener: () => unknown): void {
  guarded(`A listener of '${type}'`, listener);
}

/**
 * Calls code of the application's that nobody could catch: from timers, and in the middle of renewals. What it throws, or
 * rejects with, becomes a process warning that names who did.
 */
export function guarded(who: string, call: () => unknown): void {
  const report = (error: unknown): void => process.emitWarning(`${who} threw: ${wordsOf(error)}`, 'RaindropWarning');
  try {
    Promise.resolve(call()).catch(report);
  } catch (error) {
    report(error);
  }
}

/** Of what was thrown nothing is certain, not even that it can be looked at. */
function wordsOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.message}` : `something that is no Error (${typeof error})`;
  } catch {
    return 'something without words';
  }
}
