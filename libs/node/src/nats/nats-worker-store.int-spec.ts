import { randomBytes } from 'node:crypto';
import { Kvm } from '@nats-io/kv';
import { describeConcurrentAcquirers } from '../../../../test/proof/contract/concurrent-acquirers.contract.js';
import { describeLostFences, type LosingBench } from '../../../../test/proof/contract/lost-fences.contract.js';
import { describeWorkerStore } from '../../../../test/proof/contract/worker-store.contract.js';
import { NatsServers } from '../../../../test/support/servers/nats-servers.js';
import { KeyWorkerStore } from '../key-values/key-worker-store.js';
import { systemPorts } from '../system/system-ports.js';
import { NatsKeyValues } from './nats-key-values.js';

jest.setTimeout(60_000);

let nats: NatsServers;

beforeAll(async () => {
  nats = await NatsServers.start({ count: 3 });
});

afterAll(() => nats?.stop());

/** A bucket of this test alone. */
function makeBench(): LosingBench {
  const bucket = `test-${randomBytes(8).toString('hex')}`;
  const stores: KeyWorkerStore[] = [];
  return {
    open: () => {
      const address = { servers: nats.addresses, account: {} };
      const values = new NatsKeyValues({
        address,
        bucket,
        syncAlways: true,
        timeoutMs: 10_000,
        timers: systemPorts('exact').timers,
      });
      const store = new KeyWorkerStore({ values, prefix: '', liveGraceMs: undefined, reachMs: 185_000 });
      stores.push(store);
      return store;
    },
    deleteFence: async () => {
      const connection = await nats.connect();
      try {
        await (await new Kvm(connection).open(bucket)).delete('fence');
      } finally {
        await connection.close();
      }
    },
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await nats.ask(`STREAM.DELETE.KV_${bucket}`).catch(() => undefined);
    },
  };
}

describeWorkerStore('NATS', makeBench, {});

describeConcurrentAcquirers('NATS', () => Promise.resolve(makeBench()), { acquirers: 32, rows: 20 });

describeLostFences('NATS', makeBench);
