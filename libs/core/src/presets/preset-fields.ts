import type { Field } from '../layout/field.js';

/** The ticks since the epoch. */
export function timestamp(bits: number): Field {
  return { name: 'timestamp', role: 'time', bits };
}

/** Part of the worker's number, under the name that it has in the other system. */
export function worker(bits: number, name = 'worker'): Field {
  return { name, role: 'worker', bits };
}

/** The counter inside a tick. */
export function sequence(bits: number): Field {
  return { name: 'sequence', role: 'sequence', bits };
}
