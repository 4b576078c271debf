// A thread that obtains IDs in one of several ways, as many as it can in a given time.
import { parentPort, workerData } from 'node:worker_threads';
import { openIdService } from '@raindrop/node';
import { openSharedIds } from '@raindrop/node/threads';

const { way, handle, layout, workerId } = workerData;
/** Where the IDs go: V8 does not even make a value that no code keeps. */
const target = new BigInt64Array(1_000);
const WAYS = { ring, own, post };
const quiet = { log: () => {}, warn: () => {}, error: console.error };
/** A service of the thread's own, with a worker id of its own: open before the time begins. */
const service = way === 'own' ? await openOwnService() : undefined;

parentPort.once('message', async ({ until }) => {
  const begun = performance.now();
  const count = await WAYS[way](() => Date.now() < until);
  parentPort.postMessage({ count, ms: performance.now() - begun });
  await service?.close();
  parentPort.close();
});
parentPort.postMessage('ready');

async function ring(goesOn) {
  const ids = openSharedIds(handle, { asyncTimeoutMs: 60_000, onTakeRejected: () => {} });
  let count = 0;
  while (goesOn()) {
    const taken = takeAtOnce(ids);
    count += taken;
    if (taken < target.length) {
      target[0] = await ids.nextIdAsync();
      count++;
    }
  }
  return count;
}

/** A loop without an await, as that of the threads with a generator each. */
function takeAtOnce(ids) {
  let taken = 0;
  try {
    for (; taken < target.length; taken++) target[taken] = ids.nextId();
  } catch {
    // The ring is empty, or its producer may not issue on a busy machine: the async call waits for either.
  }
  return taken;
}

function openOwnService() {
  const worker = { workerIdAssigner: 'static', workerId, restartWaitMs: false };
  return openIdService({ ...layout, ...worker, logger: quiet });
}

function own(goesOn) {
  let count = 0;
  for (; goesOn(); count += target.length) {
    for (let index = 0; index < target.length; index++) target[index] = service.nextId();
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
