import { once } from 'node:events';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createLayout, type SharedIdRingOptions } from '@raindrop/core';
import { SharedIdRing, SnowflakeGenerator } from '@raindrop/core/internal';
import { StaticTenure } from '../../../libs/core/src/generator/tenure.js';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';
import { threadPorts } from '../../../libs/node/src/threads/thread-ring.js';
import { HOOK } from '../../support/processes/run.js';
import type { TakerTask } from './taker-messages.js';

/** A thread of this process that runs one of the scripts here. */
export function startThread(script: string, workerData: unknown): Worker {
  return new Worker(resolve(__dirname, script), { execArgv: ['--require', HOOK], workerData });
}

/** Second ticks with room for more than any machine takes. */
export function openRing(options: SharedIdRingOptions, ports = threadPorts({ warn: () => {} })): SharedIdRing {
  const layout = createLayout({ startTimeStamp: '2026-01-01', timeStampLength: 31, workIdLength: 3 }, Date.now());
  const generator = new SnowflakeGenerator({ layout, tenure: new StaticTenure(1) }, systemPorts('exact'));
  return new SharedIdRing(generator, options, ports);
}

/**
 * Has threads take `count` IDs each, at the same time, while this one produces.
 * @returns the IDs of each, in the order in which it got them
 */
export async function takeWithThreads(
  ring: SharedIdRing,
  threads: number,
  count: number,
  order: TakerTask['order'] = 'right',
): Promise<BigInt64Array[]> {
  const all = Array.from({ length: threads }, () => new BigInt64Array(new SharedArrayBuffer(8 * count)));
  const ended = all.map((ids) => {
    const task: TakerTask = { handle: ring.handle, ids, order };
    return once(startThread('taker-script.ts', task), 'exit');
  });
  const codes = (await Promise.all(ended)).flat();
  if (codes.some((code) => code !== 0)) throw new Error(`threads ended with ${codes.join()}`);
  return all;
}

/** Whether every ID is larger than the one before it. */
export function isAscending(ids: BigInt64Array): boolean {
  for (let index = 1; index < ids.length; index++) if (ids[index]! <= ids[index - 1]!) return false;
  return true;
}
