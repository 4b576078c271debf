/**
 * Worker ids kept in etcd, over its JSON gateway.
 *
 * @module @raindrop/node/etcd
 */

export { etcdWorkers, type EtcdWorkersOptions } from './etcd-workers.js';
export { type EtcdAddress, EtcdRefusedError, EtcdUnavailableError } from './etcd-gateway.js';
export { CorruptWorkerKeyError } from '../key-values/worker-record.js';
