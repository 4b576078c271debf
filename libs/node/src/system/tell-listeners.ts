import type { EventEmitter } from 'node:events';
import type { LeaseEvent } from '@raindrop/core';
import { guarded } from './guarded.js';

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
