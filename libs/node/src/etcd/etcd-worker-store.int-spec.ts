import { randomBytes } from 'node:crypto';
import { describeConcurrentAcquirers } from '../../../../test/proof/contract/concurrent-acquirers.contract.js';
import { describeLostFences, type LosingBench } from '../../../../test/proof/contract/lost-fences.contract.js';
import { describeWorkerStore } from '../../../../test/proof/contract/worker-store.contract.js';
import { EtcdServers } from '../../../../test/support/servers/etcd-servers.js';
import { KeyWorkerStore } from '../key-values/key-worker-store.js';
import { EtcdKeyValues, toBase64 } from './etcd-key-values.js';

jest.setTimeout(60_000);

let etcd: EtcdServers;

beforeAll(async () => {
  etcd = await EtcdServers.start();
});

afterAll(() => etcd?.stop());

/** A prefix of this test alone. */
function makeBench(): LosingBench {
  const prefix = `test/${randomBytes(8).toString('hex')}/`;
  const stores: KeyWorkerStore[] = [];
  return {
    open: () => {
      const endpoints = etcd.endpoints.map((url) => new URL(url));
      const address = { endpoints, account: undefined, ca: undefined };
      const store = new KeyWorkerStore({
        values: new EtcdKeyValues(address, 5_000, prefix),
        prefix,
        liveGraceMs: 0,
        reachMs: 185_000,
      });
      stores.push(store);
      return store;
    },
    deleteFence: () => etcd.ask('/v3/kv/deleterange', { key: toBase64(`${prefix}fence`) }),
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

describeWorkerStore('etcd', makeBench, {});

describeConcurrentAcquirers('etcd', () => Promise.resolve(makeBench()), { acquirers: 32, rows: 20 });

describeLostFences('etcd', makeBench);
