/**
 * Worker ids kept in etcd, over its JSON gateway.
 *
 * @module @raindrop/node/etcd
 */

export { etcdWorkers, type EtcdWorkersOptions } from './etcd-workers.js';
export type { EtcdAddress } from './etcd-options.js';
export { CorruptEtcdWorkerError, EtcdRefusedError, EtcdUnavailableError } from './etcd-errors.js';
