import type { EventEmitter } from 'node:events';
import type { LeaseEvent } from '@raindrop/core';

/**
 * Emits an event to every listener by itself: one that throws, or whose promise rejects, is reported as a process
 * warning and is nobody else's trouble. `captureRejections` would answer with an 'error' event, which ends a process
 * that does not listen to it.
 */
export function tellListeners(events: EventEmitter, event: LeaseEvent): void {
  for (const listener of events.rawListeners(event.type)) {
    guarded(event, () => Reflect.apply(listener, events, [event]) as unknown);
  }
}

/** Calls a listener; what it throws or rejects with becomes a process warning. */
export function guarded(event: LeaseEvent, listener: () => unknown): void {
  try {
    Promise.resolve(listener()).catch((error: unknown) => report(event, error));
  } catch (error) {
    report(event, error);
  }
}

function report({ type }: LeaseEvent, error: unknown): void {
  const reason = error instanceof Error ? error.message : `something that is no Error (${typeof error})`;
  process.emitWarning(`A listener of '${type}' threw: ${reason}`, 'RaindropWarning');
}
