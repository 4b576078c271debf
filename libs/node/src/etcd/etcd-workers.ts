import { grantReachMs, OptionReader, type OptionsOf, readOptions, text } from '@raindrop/core/internal';
import { KeyWorkerStore } from '../key-values/key-worker-store.js';
import type { ReservingAssigner } from '../ports/worker.js';
import { EtcdKeyValues } from './etcd-key-values.js';
import { readEtcdAddress, type EtcdAddress, type ResolvedEtcdAddress } from './etcd-gateway.js';

export const etcdWorkersOptions = {
  /**
   * Begins every key. Services with one prefix share worker ids. None may lie inside another: beside `ids/` a start with
   * `ids/eu/` is refused.
   * @range names of letters, digits or any of `. : _ -`, each with a `/` behind it @defaultValue `raindrop/worker/`
   */
  prefix: text({
    pattern: /^[\w.:-]{1,64}(\/[\w.:-]{1,64}){0,7}\/$/,
    legal: 'names of letters, digits or any of . : _ -, each followed by /',
    default: 'raindrop/worker/',
  }),
};

/** An etcd, from version 3.4, as the memory of worker ids. */
export interface EtcdWorkersOptions extends EtcdAddress, OptionsOf<typeof etcdWorkersOptions> {}

/** Added to lease and grace: until the next attempt has come. */
const WAIT_LONGER_MS = 10_000;

/**
 * Leases worker ids from an etcd instead of the database, by the same protocol, over its JSON gateway.
 *
 * Every read is linearizable, and every write compares what was read. A cluster that was restored from a snapshot is
 * another one: a process that holds a worker id goes on if its row is still there, and starts wait until all that can
 * have been granted before is past, 185 s by default. etcd tells no time, so nothing refuses a host whose clock is
 * wrong.
 *
 * @throws ConfigurationError naming every option that is wrong
 */
export function etcdWorkers(options: EtcdWorkersOptions): ReservingAssigner {
  const { address, prefix } = resolveEtcdWorkersOptions(options);
  return {
    name: 'etcd',
    openStore: ({ lease }) => {
      const { opTimeoutMs, graceMs } = lease;
      const values = new EtcdKeyValues(address, opTimeoutMs, prefix);
      return new KeyWorkerStore({ values, prefix, liveGraceMs: graceMs, reachMs: grantReachMs(lease) });
    },
    defaultWaitMs: ({ leaseMs, graceMs }) => leaseMs + graceMs + WAIT_LONGER_MS,
  };
}

function resolveEtcdWorkersOptions(options: EtcdWorkersOptions): { address: ResolvedEtcdAddress; prefix: string } {
  const reader = new OptionReader(options);
  const resolved = { address: readEtcdAddress(reader), ...readOptions(reader, etcdWorkersOptions) };
  reader.finish();
  return resolved;
}
