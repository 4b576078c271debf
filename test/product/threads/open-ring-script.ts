import { openSharedIds } from '../../../libs/node/src/threads/thread-ring.js';
import { openRing, startThread } from './real-ring.js';

/** A process that leaves its ring open, with a listener that waits for more IDs, and ends by itself. */
async function main(): Promise<void> {
  const ring = openRing({ boostPower: 0 });
  const ids = openSharedIds(ring.handle);
  await ids.nextIdsAsync(ring.handle.capacity);
  await ids.nextIdAsync();
  startThread('taker-script.ts', {
    handle: ring.handle,
    ids: new BigInt64Array(new SharedArrayBuffer(800)),
    order: 'right',
  }).on('exit', (code) => process.send!({ state: ring.status().state, code }, () => process.disconnect()));
}

void main();
