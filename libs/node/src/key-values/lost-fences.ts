import { CorruptWorkerKeyError } from './corrupt-worker-key-error.js';
import type { Entries } from './key-values.js';
import type { WorkerKeys } from './worker-keys.js';
import { fencesAtWrite, fencesOf } from './worker-record.js';

/** The most fences that any row has seen: the key that counts them counts anew where it was deleted. */
export function mostFencesSeen(keys: WorkerKeys, entries: Entries): number {
  const seen = keys.idsIn(entries).map((id) => fencesAtWrite(keys.row(id), entries.get(keys.row(id))!));
  return Math.max(0, ...seen);
}

/**
 * Fences reach the rows that were not written since by their key alone. Where a row has seen more of them than the key
 * counts, the key was deleted or put back, and those rows are bare.
 * @throws CorruptWorkerKeyError
 */
export function refuseLostFences(keys: WorkerKeys, entries: Entries): void {
  const { count } = fencesOf(keys.fence, entries.get(keys.fence));
  const seen = mostFencesSeen(keys, entries);
  if (seen <= count) return;
  throw new CorruptWorkerKeyError(
    keys.fence,
    `was deleted or put back: it counts ${count} fences, and a row has seen ${seen}. Stop all processes, and call ` +
      `fenceWorkers() (raindrop fence) before one starts; never delete this key.`,
  );
}
