import { randomBytes } from 'node:crypto';
import { describeConcurrentAcquirers } from '../../../../test/contract/concurrent-acquirers.contract.js';
import { describeWorkerStore } from '../../../../test/contract/worker-store.contract.js';
import { NatsServers } from '../../../../test/servers/nats-servers.js';
import { KeyWorkerStore } from '../key-values/key-worker-store.js';
import { systemPorts } from '../system/system-ports.js';
import { NatsKeyValues } from './nats-key-values.js';

jest.setTimeout(60_000);

let nats: NatsServers;

beforeAll(async () => {
  nats = await NatsServers.start({ count: 3 });
});

afterAll(() => nats?.stop());

/** A bucket that is nobody else's. */
function makeBench(): { open(): KeyWorkerStore; dispose(): Promise<void> } {
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
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await nats.ask(`STREAM.DELETE.KV_${bucket}`).catch(() => undefined);
    },
  };
}

describeWorkerStore('NATS', makeBench, {});

describeConcurrentAcquirers('NATS', () => Promise.resolve(makeBench()), { acquirers: 32, rows: 20 });
