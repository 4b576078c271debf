import { workerData } from 'node:worker_threads';
import { openSharedIds } from '../../libs/nestjs/src/threads/open-shared-ids.js';
import { useLateCursor } from './use-late-cursor.js';
import type { TakerTask } from './taker-messages.js';

/** A thread that takes as fast as it can, and waits where there is nothing to take. */
async function main(): Promise<void> {
  const { handle, ids: target, order } = workerData as TakerTask;
  const ids = openSharedIds(handle, { onTakeRejected: () => {} });
  if (order === 'late') useLateCursor(ids, handle);
  for (let index = 0; index < target.length; index++) {
    target[index] = ids.refusal() === undefined ? ids.nextId() : await ids.nextIdAsync();
  }
}

void main();
