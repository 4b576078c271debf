import { Layout, TIME_UNITS, type Field, type ResolvedLayout, type TimeUnit } from '@raindrop/core';

/** Worker ids run from 1 to this. */
export const ROWS = 3;

/** The layout of a service, in as few words as a trace has room for. */
export interface LayoutChoice {
  readonly unit: TimeUnit;
  readonly timeBits: number;
  readonly workerBits: number;
  /** False: one lane only. */
  readonly clockBack: boolean;
  readonly sequenceBits: number;
  /** 0 for none. */
  readonly endBits: number;
  readonly endValue: number;
  readonly firstLane: 0 | 1;
  /** By how much later its ticks begin to count, ms. */
  readonly epochShiftMs?: number;
}

const EPOCH_MS = Date.parse('2024-01-01T00:00:00.000Z');

export function resolve(choice: LayoutChoice): ResolvedLayout {
  const fields: Field[] = [
    { name: 'timestamp', role: 'time', bits: choice.timeBits },
    { name: 'worker', role: 'worker', bits: choice.workerBits },
  ];
  if (choice.clockBack) fields.push({ name: 'clockBack', role: 'clockBack', bits: 1 });
  fields.push({ name: 'sequence', role: 'sequence', bits: choice.sequenceBits });
  if (choice.endBits > 0) fields.push({ name: 'end', role: 'fixed', bits: choice.endBits, value: choice.endValue });
  return {
    layout: new Layout({ fields, unitMs: TIME_UNITS[choice.unit].ms, epochMs: EPOCH_MS + (choice.epochShiftMs ?? 0) }),
    workers: { min: 1, max: ROWS },
    firstLane: choice.clockBack ? choice.firstLane : 0,
    minLifetimeDays: 0,
    warnings: [],
  };
}
