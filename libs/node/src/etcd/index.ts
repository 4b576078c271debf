/**
 * Worker ids kept in etcd, over its JSON gateway.
 *
 * @module @raindrop/node/etcd
 */

export { etcdWorkers, type EtcdWorkersOptions } from './etcd-workers.js';
export type { EtcdAddress } from './etcd-options.js';
export { CorruptWorkerKeyError } from '../key-values/corrupt-worker-key-error.js';
export { EtcdRefusedError, EtcdUnavailableError } from './etcd-errors.js';
