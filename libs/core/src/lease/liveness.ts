import type { WorkerRow } from './worker-store.js';

/**
 * True while a row must be left to its holder. Whoever finds it false may take the row, and need not care what layout
 * the last holder had: the holder himself goes on only inside his lease, whatever grace others have set.
 */
export function isHeld(row: WorkerRow, nowMs: number, graceMs: number): boolean {
  return row.token !== '' && nowMs < row.leaseUntilMs + graceMs;
}
