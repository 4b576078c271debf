/**
 * Worker ids kept in a NATS KV bucket.
 *
 * @module @raindrop/node/nats
 */

import { requireSupported } from '../system/peer-versions.js';
export { natsWorkers, type NatsWorkersOptions } from './nats-workers.js';
export { type NatsTarget, NatsBucketError, NatsRefusedError, NatsUnavailableError } from './nats-connection.js';
export { CorruptWorkerKeyError } from '../key-values/worker-record.js';

requireSupported('@nats-io/kv', () => __filename);
requireSupported('@nats-io/transport-node', () => __filename);
