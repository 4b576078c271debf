import { parentPort, workerData } from 'node:worker_threads';
import type { SharedIdRingOptions } from '@raindrop/core';
import { threadPorts } from '../../../libs/node/src/threads/thread-ring.js';
import { openRing } from './real-ring.js';

/** What a producing thread is to do. */
export interface ProducerTask extends Pick<SharedIdRingOptions, 'producerTimeoutMs' | 'maxAgeMs'> {
  /** Whether it looks at its ring once a second by itself; false: only when somebody wakes it. */
  readonly beats: boolean;
}

const BEAT_MS = 1_000;

/** A thread that produces; it lives until it is terminated. */
const { beats, ...options } = workerData as ProducerTask;
const ports = threadPorts({ warn: () => {} });
const { timers } = ports;
const setTimer: typeof timers.setTimer = (callback, delayMs, kind) =>
  beats || delayMs < BEAT_MS ? timers.setTimer(callback, delayMs, kind) : { cancel: () => undefined };
const ring = openRing({ boostPower: 0, ...options }, { ...ports, timers: { setTimer } });
parentPort!.on('message', () => ring.close());
parentPort!.postMessage(ring.handle);
