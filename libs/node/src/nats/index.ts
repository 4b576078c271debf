/**
 * Worker ids kept in a NATS KV bucket.
 *
 * @module @raindrop/node/nats
 */

export { natsWorkers, type NatsWorkersOptions } from './nats-workers.js';
export type { NatsTarget } from './nats-options.js';
export { CorruptWorkerKeyError } from '../key-values/corrupt-worker-key-error.js';
export { NatsBucketError, NatsRefusedError, NatsUnavailableError } from './nats-errors.js';
