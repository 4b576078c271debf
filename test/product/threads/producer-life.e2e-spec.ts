import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { SharedIdRingHandle } from '@raindrop/core';
import type { SharedIds } from '@raindrop/core/internal';
import { createTestIdService } from '@raindrop/nestjs/testing';
import { openSharedIds, sharedIdRing } from '@raindrop/node/threads';
import { forkScript } from '../../support/processes/forked.js';
import { until } from '../../support/until.js';
import type { ProducerTask } from './producer-script.js';
import { startThread, takeWithThreads } from './real-ring.js';
import type { TakerTask } from './taker-messages.js';

const QUIET = { logger: { warn: () => {} } };

const PATIENCE = { timeoutMs: 20_000 };

/** 16 million IDs in a second. */
const WIDE = { startTimeStamp: '2024-01-01', timeStampLength: 33, workIdLength: 4, endBitsLength: 1 };

describe('Takers of a producer in another thread', () => {
  let producer: Worker;
  let ids: SharedIds;

  const start = async (task: ProducerTask): Promise<void> => {
    producer = startThread('producer-script.ts', task);
    const [handle] = (await once(producer, 'message')) as [SharedIdRingHandle];
    ids = openSharedIds(handle, QUIET);
  };
  afterEach(() => producer.terminate());

  it('wake it when the ring runs low, though it has nothing else to do', async () => {
    await start({ beats: false, producerTimeoutMs: 60_000, maxAgeMs: 3_600_000 });
    for (let round = 0; round < 20; round++) expect(await ids.nextIdsAsync(8_192, PATIENCE)).toHaveLength(8_192);
  });

  it('fail when it is terminated, soon after they have heard of it for the last time', async () => {
    await start({ beats: true, producerTimeoutMs: 400 });
    await ids.nextIdAsync(PATIENCE);
    await producer.terminate();
    await until('nothing is heard of it', () => ids.refusal()?.errorCode === 'RING_PRODUCER_LOST');
    expect(() => ids.nextId()).toThrow('missed its deadline');
    await expect(ids.nextIdAsync({ timeoutMs: 200 })).rejects.toMatchObject({
      errorCode: 'WAIT_TIMEOUT',
      cause: { errorCode: 'RING_PRODUCER_LOST' },
    });
  });

  it('fail at once when it closes the ring', async () => {
    await start({ beats: true });
    await ids.nextIdAsync(PATIENCE);
    const waiting = expect(
      (async () => {
        for (;;) await ids.nextIdsAsync(8_192, PATIENCE);
      })(),
    ).rejects.toMatchObject({ errorCode: 'RING_CLOSED' });
    producer.postMessage('close');
    await waiting;
  });
});

describe('Threads of a service', () => {
  it('fail with its error while its lease is lost or in doubt, and go on when it is back, past all they had', async () => {
    // Its clock stands still: on a slow machine the ring is filled again and again, as what is in it ages.
    const bed = createTestIdService({ ...WIDE, now: Date.now() });
    const ring = sharedIdRing(bed.ids, QUIET);
    const ids = openSharedIds(ring.handle, QUIET);
    const [before] = await takeWithThreads(ring, 1, 1_000);
    const own = ids.nextId();
    bed.loseLease('somebody took it');
    // At once, without a turn of the event loop: what a thread has claimed is not handed out any more either.
    expect(ids.refusal()).toMatchObject({ errorCode: 'RING_FAILED', producerCode: 'LEASE_LOST', retryable: true });
    const after = new BigInt64Array(new SharedArrayBuffer(8_000));
    const taker = startThread('taker-script.ts', {
      handle: ring.handle,
      ids: after,
      order: 'right',
    } satisfies TakerTask);
    const ended = once(taker, 'exit');
    expect(await once(taker, 'message')).toEqual(['waiting']);
    bed.regainLease();
    expect(await ended).toEqual([0]);
    expect(after[0]).toBeGreaterThan(before!.at(-1)!);
    expect(after[0]).toBeGreaterThan(own);
    expect(ring.status().rejected).toBeGreaterThan(0);
    ring.close();
  });

  it('are told when the application has shut down', async () => {
    const bed = createTestIdService({ now: Date.now() });
    const ring = sharedIdRing(bed.ids, QUIET);
    const ids = openSharedIds(ring.handle, QUIET);
    ids.nextId();
    await bed.ids.onApplicationShutdown();
    expect(ids.refusal()).toMatchObject({ errorCode: 'RING_CLOSED' });
    expect(ring.status().state).toBe('closed');
  });
});

it('A process with an open ring ends by itself', async () => {
  const child = forkScript(resolve(__dirname, 'open-ring-script.ts'));
  const news: unknown[] = [];
  child.on('message', (message) => void news.push(message));
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(news).toEqual([{ state: 'open', code: 0 }]);
});
