import { type Field, Layout } from '../layout/layout.js';

export interface TinyLayoutOptions {
  /** Default 1. */
  unitMs?: number;
  /** Default 2: four IDs in a tick. */
  sequenceBits?: number;
  /** Default true. */
  clockBack?: boolean;
  /** Default 44, or what is left of 63. */
  timeBits?: number;
  /** Default 0. */
  endBits?: number;
  /** Default 0: then ticks count from 1970. */
  epochMs?: number;
}

/** A layout with so few sequences that a test can use up a tick; 3 worker bits. */
export function tinyLayout(options: TinyLayoutOptions = {}): Layout {
  const { unitMs = 1, sequenceBits = 2, clockBack = true, endBits = 0, epochMs = 0 } = options;
  const { timeBits = Math.min(44, 59 - sequenceBits - endBits) } = options;
  const fields: Field[] = [
    { name: 'timestamp', role: 'time', bits: timeBits },
    { name: 'worker', role: 'worker', bits: 3 },
  ];
  if (clockBack) fields.push({ name: 'clockBack', role: 'clockBack', bits: 1 });
  fields.push({ name: 'sequence', role: 'sequence', bits: sequenceBits });
  if (endBits > 0) fields.push({ name: 'end', role: 'fixed', bits: endBits, value: 2 ** endBits - 1 });
  return new Layout({ fields, unitMs, epochMs });
}
