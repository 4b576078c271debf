import type { DatabaseKind } from '../../support/servers/test-databases.js';
import type { Figure, Measurement } from './figure.js';
import { startModule } from './module-app.js';
import { inEveryOutage, type OutageKind, type Outage } from './outage.js';
import { SteadyCaller } from './steady-caller.js';
import { leaseStatus } from '../../support/module/lease-status.js';

const LEASE = { leaseMs: 8_000, heartbeatIntervalMs: 1_000, opTimeoutMs: 500 };
const OUTAGE_MS = 0.75 * LEASE.leaseMs;

/** An outage of three quarters of a lease costs no call. */
export const shortOutage: Figure = {
  name: 'short-outage',
  measure: (bench) => inEveryOutage(bench, measureOne),
};

async function measureOne(outage: Outage, how: OutageKind, kind: DatabaseKind): Promise<Measurement> {
  const { ids, close } = await startModule(outage.options, LEASE);
  const caller = new SteadyCaller(() => ids.nextId());
  const { lastedMs } = await outage.happen(OUTAGE_MS);
  await new Promise((settle) => ids.events.once('lease-renewed', settle));
  caller.stop();
  const { failures } = leaseStatus(ids);
  await close();
  const { good, failed } = caller;
  return {
    figure: `outage of 0.75 lease, ${how}`,
    database: kind,
    target: '0 failed calls',
    measured: `${failed.length} of ${good + failed.length} failed; away for ${(lastedMs / LEASE.leaseMs).toFixed(2)} lease, ${failures} attempts to renew failed`,
    // Without a failed attempt there was no outage to speak of.
    ok: failed.length === 0 && good > 1_000 && failures > 0 && lastedMs >= OUTAGE_MS,
  };
}
