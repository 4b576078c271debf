// A thread that obtains IDs in one of several ways, as many as it can in a given time.
import { parentPort, workerData } from 'node:worker_threads';
import { Layout } from '../../libs/core/dist/index.js';
import core from '../../libs/core/dist/internal.js';
import { systemPorts } from '../../libs/node/dist/system/system-ports.js';
import { openSharedIds } from '../../libs/node/dist/threads/shared-id-ring.js';

const { way, handle, layout, workerId } = workerData;
/** Where the IDs go: V8 does not even make a value that no code keeps. */
const target = new BigInt64Array(1_000);
const WAYS = { ring, own, post };

parentPort.once('message', async ({ until }) => {
  const begun = performance.now();
  const count = await WAYS[way](() => Date.now() < until);
  parentPort.postMessage({ count, ms: performance.now() - begun });
  parentPort.close();
});
parentPort.postMessage('ready');

async function ring(goesOn) {
  const ids = openSharedIds(handle, { onTakeRejected: () => {} });
  let count = 0;
  for (; goesOn(); count += target.length) {
    for (let index = 0; index < target.length; index++) {
      try {
        target[index] = ids.nextId();
      } catch {
        target[index] = await ids.nextIdAsync();
      }
    }
  }
  return count;
}

/** A generator of the thread's own, with a worker id of its own. */
async function own(goesOn) {
  const generator = new core.SnowflakeGenerator(
    { layout: new Layout(layout), tenure: new core.StaticTenure(workerId) },
    systemPorts('turn'),
  );
  let count = 0;
  for (; goesOn(); count += target.length) {
    for (let index = 0; index < target.length; index++) target[index] = generator.nextId();
  }
  return count;
}

/** Asks the main thread for each ID. */
async function post(goesOn) {
  let count = 0;
  let answer;
  parentPort.on('message', (id) => answer(id));
  for (; goesOn(); count++) {
    await new Promise((resolve) => {
      answer = resolve;
      parentPort.postMessage('next');
    });
  }
  return count;
}
