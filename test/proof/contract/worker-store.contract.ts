import {
  workerStoreContract,
  type WorkerStoreBench,
  type WorkerStoreFeatures,
} from '../../../libs/node/src/testing/index.js';

export type { WorkerStoreBench };
export { writeTo } from '../../../libs/node/src/testing/bench.js';

/** What our own stores can do. */
const ALL: WorkerStoreFeatures = { deletedRows: true, foreignWriters: true };

/** The published contract, as tests of Jest. */
export function describeWorkerStore(
  name: string,
  make: () => WorkerStoreBench | Promise<WorkerStoreBench>,
  features = ALL,
): void {
  describe(`WorkerStore on ${name}`, () => {
    for (const { name: promise, run } of workerStoreContract(make, features)) it(promise, run);
  });
}
