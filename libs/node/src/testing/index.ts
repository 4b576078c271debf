/**
 * The contract of stores of worker ids, as cases for any test runner.
 *
 * @module @raindrop/node/testing
 */

export { workerStoreContract, type WorkerStoreCase, type WorkerStoreFeatures } from './worker-store-contract.js';
export type { WorkerStoreBench } from './bench.js';
