import { boolean, grantReachMs, option, type OptionsOf, resolveOptions, text } from '@raindrop/core/internal';
import { KeyWorkerStore } from '../key-values/key-worker-store.js';
import type { ReservingAssigner } from '../ports/worker.js';
import { NatsKeyValues } from './nats-key-values.js';
import { readNatsAddress, type NatsAddress, type NatsTarget } from './nats-connection.js';

export const natsWorkersOptions = {
  /**
   * The servers, such as `nats://nats:4222`.
   * @range a URL, or the options of `connect()` of `@nats-io/transport-node`
   */
  connection: option<NatsTarget, NatsAddress>(readNatsAddress, { isRequired: true }),
  /**
   * The bucket, which is made when it is not there. Services with one bucket share worker ids.
   * @range 1-64 letters, digits or any of `_ -` @defaultValue `raindrop-workers`
   */
  bucket: text({
    pattern: /^[\w-]{1,64}$/,
    legal: '1 to 64 letters, digits or any of _ -',
    default: 'raindrop-workers',
  }),
  /**
   * Whether each server has `sync_interval: always`, which no client can ask them. Without it a power cut of most servers
   * may lose what they have acknowledged, and a start warns.
   * @range true, false @defaultValue false
   */
  syncAlways: boolean({ default: false }),
};

/** A bucket of NATS KV, on nats-server 2.10.23 or later with JetStream, as the memory of worker ids. */
export interface NatsWorkersOptions extends OptionsOf<typeof natsWorkersOptions> {}

/** Added to lease and grace: until the next attempt has come. */
const WAIT_LONGER_MS = 10_000;

/**
 * Leases worker ids from a NATS KV bucket instead of the database, by the same protocol.
 *
 * Every read puts a key first, so that it is as new as a majority of the servers; every write names the revision that
 * it replaces. A process that was running sees that a bucket went back. Then a process that holds a worker id goes on
 * if its row is still there, and starts wait until all that can have been granted before is past, 185 s by default. A
 * missing bucket looks like a new one: call `fenceWorkers()` before the first start. NATS tells no time, so nothing
 * refuses a host whose clock is wrong. A bucket whose settings lose values is refused.
 *
 * @throws ConfigurationError naming every option that is wrong
 */
export function natsWorkers(options: NatsWorkersOptions): ReservingAssigner {
  const { connection: address, bucket, syncAlways } = resolveOptions(natsWorkersOptions, options);
  return {
    name: 'nats',
    openStore: ({ lease, timers }) => {
      const values = new NatsKeyValues({ address, bucket, syncAlways, timeoutMs: lease.opTimeoutMs, timers });
      return new KeyWorkerStore({ values, prefix: '', liveGraceMs: undefined, reachMs: grantReachMs(lease) });
    },
    defaultWaitMs: ({ leaseMs, graceMs }) => leaseMs + graceMs + WAIT_LONGER_MS,
  };
}
