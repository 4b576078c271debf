import { parentPort, workerData } from 'node:worker_threads';
import { openSharedIds } from '../../../libs/node/src/threads/thread-ring.js';
import { useLateCursor } from './use-late-cursor.js';
import type { TakerTask } from './taker-messages.js';

/** A thread that takes as fast as it can, and waits where there is nothing to take; it says so the first time. */
async function main(): Promise<void> {
  const { handle, ids: target, order } = workerData as TakerTask;
  const ids = openSharedIds(handle, { onTakeRejected: () => {}, asyncTimeoutMs: 60_000 });
  if (order === 'late') useLateCursor(ids, handle);
  let hasWaited = false;
  for (let index = 0; index < target.length; index++) {
    if (ids.refusal() === undefined) {
      target[index] = ids.nextId();
      continue;
    }
    if (!hasWaited) parentPort!.postMessage('waiting');
    hasWaited = true;
    target[index] = await ids.nextIdAsync();
  }
}

void main();
