import { fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { SharedIdRingHandle, SharedIds } from '@raindrop/core';
import { createTestIdService } from '@raindrop/nestjs/testing';
import { openSharedIds } from '../../libs/nestjs/src/threads/open-shared-ids.js';
import { sharedIdRing } from '../../libs/nestjs/src/threads/shared-id-ring.js';
import { startThread, takeWithThreads } from './real-ring.js';

const QUIET = { logger: { warn: () => {} } };

/** What keeps a taker from its IDs, as soon as something does. */
async function refusalOf(ids: SharedIds, expected: string): Promise<string> {
  const giveUpAt = Date.now() + 5_000;
  while (ids.refusal()?.errorCode !== expected && Date.now() < giveUpAt) await sleep(5);
  return ids.refusal()?.errorCode ?? 'none';
}

describe('Takers of a producer in another thread', () => {
  let producer: Worker;
  let ids: SharedIds;

  beforeEach(async () => {
    producer = startThread('producer-script.ts', undefined);
    const [handle] = (await once(producer, 'message')) as [SharedIdRingHandle];
    ids = openSharedIds(handle, QUIET);
  });
  afterEach(() => producer.terminate());

  it('wake it when the ring runs low, though it has nothing else to do', async () => {
    for (let round = 0; round < 20; round++) {
      const begun = performance.now();
      await ids.nextIdsAsync(8_192);
      // By itself it looks once a second.
      expect(performance.now() - begun).toBeLessThan(500);
    }
  });

  it('fail when it is terminated, soon after they have heard of it for the last time', async () => {
    ids.nextId();
    await producer.terminate();
    expect(await refusalOf(ids, 'RING_PRODUCER_LOST')).toBe('RING_PRODUCER_LOST');
    expect(() => ids.nextId()).toThrow('should have been heard of');
    await expect(ids.nextIdAsync({ timeoutMs: 200 })).rejects.toMatchObject({
      errorCode: 'WAIT_TIMEOUT',
      cause: { errorCode: 'RING_PRODUCER_LOST' },
    });
  });

  it('fail at once when it closes the ring', async () => {
    ids.nextId();
    const waiting = expect(
      (async () => {
        for (;;) await ids.nextIdsAsync(8_192);
      })(),
    ).rejects.toMatchObject({ errorCode: 'RING_CLOSED' });
    producer.postMessage('close');
    await waiting;
  });
});

describe('Threads of a service', () => {
  it('fail with its error while its lease is lost or in doubt, and go on when it is back, past all they had', async () => {
    const bed = createTestIdService({ now: Date.now() });
    const ring = sharedIdRing(bed.ids, QUIET);
    const ids = openSharedIds(ring.handle, QUIET);
    const [before] = await takeWithThreads(ring, 1, 1_000);
    const own = ids.nextId();
    bed.loseLease('somebody took it');
    // At once, without a turn of the event loop: what a thread has claimed is not handed out any more either.
    expect(ids.refusal()).toMatchObject({ errorCode: 'RING_FAILED', producerCode: 'LEASE_LOST', retryable: true });
    const waiting = takeWithThreads(ring, 1, 1_000);
    await sleep(300);
    bed.regainLease();
    const [after] = await waiting;
    expect(after![0]).toBeGreaterThan(before!.at(-1)!);
    expect(after![0]).toBeGreaterThan(own);
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
  const child = fork(resolve(__dirname, 'open-ring-script.ts'), {
    execArgv: ['--require', resolve(__dirname, '../typescript-hook.cjs')],
  });
  const news: unknown[] = [];
  child.on('message', (message) => void news.push(message));
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(news).toEqual([{ state: 'open', code: 0 }]);
});
