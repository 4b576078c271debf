import { parentPort } from 'node:worker_threads';
import { openRing } from './real-ring.js';

/** A thread that produces; it lives until it is terminated. */
const ring = openRing({ boostPower: 0, producerTimeoutMs: 400 });
parentPort!.on('message', () => ring.close());
parentPort!.postMessage(ring.handle);
