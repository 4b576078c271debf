import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { openSharedIds, sharedIdRing } from '@raindrop/node/threads';
import { orMoment } from '../parts/moment.mjs';
import { openService, WIDE } from '../parts/service.mjs';

export const question = `How many IDs a second do worker threads get? (${availableParallelism()} cores)`;

const RUN_MS = orMoment(1_500, 50);
const REFILLS = orMoment(50, 1);
const WAYS = {
  ring: 'a shared ring',
  own: 'a generator and a worker id each',
  post: 'asking the main thread',
};

export async function measure() {
  const { ids, close } = await openService(WIDE);
  const ring = sharedIdRing(ids);
  const perSecond = {};
  for (const way of Object.keys(WAYS)) {
    for (const count of [1, 2, 4]) perSecond[`${way} ${count}`] = await rate(way, count, { ids, ring });
  }
  const wakeUp = await timeToRefill(ids);
  ring.close();
  await close();
  const figures = Object.entries(perSecond).map(([key, value]) => {
    const [way, count] = key.split(' ');
    return { name: `${WAYS[way]}, threads: ${count}`, value, unit: 'IDs/s' };
  });
  figures.push({ name: 'the ring is full again after it was emptied', value: wakeUp, unit: 'ms' });
  const ratio = (way, other, count) => ({
    name: `${WAYS[way]} / ${WAYS[other]}, threads: ${count}`,
    value: perSecond[`${way} ${count}`] / perSecond[`${other} ${count}`],
  });
  return {
    figures,
    ratios: [
      { ...ratio('ring', 'post', 1), atLeast: 10 },
      { ...ratio('ring', 'own', 1), atLeast: 0.4 },
      { ...ratio('ring', 'own', 2), atLeast: 0.3 },
    ],
  };
}

/** IDs a second of all threads together. */
async function rate(way, count, { ids, ring }) {
  const workers = Array.from({ length: count }, (_, index) => {
    const workerData = { way, handle: ring.handle, layout: WIDE, workerId: index + 1 };
    return new Worker(new URL('../parts/ring-thread.mjs', import.meta.url), { workerData });
  });
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const until = Date.now() + RUN_MS;
  const results = await Promise.all(workers.map((worker) => resultOf(worker, until, ids)));
  return results.reduce((sum, result) => sum + (result.count / result.ms) * 1_000, 0);
}

function resultOf(worker, until, ids) {
  return new Promise((resolve, reject) => {
    worker.on('error', reject).on('message', (message) => {
      if (message === 'next') worker.postMessage(ids.nextId());
      else resolve(message);
    });
    worker.postMessage({ until });
  });
}

/** From the last ID taken until every slot holds a new one; the producer is otherwise idle. */
async function timeToRefill(ids) {
  const ring = sharedIdRing(ids);
  const taker = openSharedIds(ring.handle);
  const samples = [];
  const isFull = async () => {
    while (ring.status().left < ring.handle.capacity) await new Promise((resolve) => setImmediate(resolve));
  };
  await isFull();
  for (let round = 0; round < REFILLS; round++) {
    taker.nextIds(ring.handle.capacity);
    const begun = performance.now();
    await isFull();
    samples.push(performance.now() - begun);
  }
  ring.close();
  return samples.sort((a, b) => a - b)[samples.length >> 1];
}
