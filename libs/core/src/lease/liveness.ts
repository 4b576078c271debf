import type { WorkerRow } from './worker-store.js';

/**
 * True while a row must be left to its holder. Whoever finds it false may take the row, and need not care what layout
 * the last holder had: the holder himself goes by the same rule before he goes on.
 */
export function isHeld(row: WorkerRow, nowMs: number, graceMs: number): boolean {
  return row.token !== '' && nowMs < row.leaseUntilMs + graceMs;
}
