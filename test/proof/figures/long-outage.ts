import type { DatabaseKind } from '../../support/servers/test-databases.js';
import type { Figure, Measurement } from './figure.js';
import { startModule } from './module-app.js';
import { inEveryOutage, type OutageKind, type Outage } from './outage.js';
import { SteadyCaller } from './steady-caller.js';

// The pause between attempts is the longest there is, 800 ms: that of every heartbeat from 800 ms on.
const LEASE = { leaseMs: 3_000, heartbeatIntervalMs: 1_000, opTimeoutMs: 500 };
const ROUNDS = 4;

/** After an outage that is longer than the lease the service is back within a second; until then errors say "again". */
export const longOutage: Figure = {
  name: 'long-outage',
  measure: (bench) => inEveryOutage(bench, measureOne),
};

async function measureOne(outage: Outage, how: OutageKind, kind: DatabaseKind): Promise<Measurement> {
  const { ids, close } = await startModule(outage.options, LEASE);
  const caller = new SteadyCaller(() => ids.nextId());
  const recoveries: number[] = [];
  let stopped = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const failedBefore = caller.failed.length;
    const { backAtMs } = await outage.happen(LEASE.leaseMs + 1_000);
    const goodAtMs = await caller.nextGood();
    if (caller.failed.length > failedBefore) stopped++;
    recoveries.push(goodAtMs - backAtMs);
    await new Promise((settle) => ids.events.once('lease-renewed', settle));
  }
  caller.stop();
  await close();
  // A connection that the network has swallowed is given up after opTimeoutMs; only then is another one tried.
  const limitMs = how === 'silent' ? 1_000 + LEASE.opTimeoutMs : 1_000;
  const slowest = Math.max(...recoveries);
  const { failed, improper, longestPauseMs } = caller;
  return {
    figure: `outage longer than the lease, ${how}`,
    database: kind,
    target: `first ID within ${how === 'silent' ? 'opTimeout + ' : ''}1 s of the return; errors typed and retryable`,
    measured: `${recoveries.map((ms) => ms.toFixed(0)).join(', ')} ms; ${failed.length} calls failed, ${improper.length} of them improperly; longest pause of the caller ${longestPauseMs.toFixed(0)} ms`,
    // A round in which no call failed proves nothing.
    ok: slowest <= limitMs && improper.length === 0 && stopped === ROUNDS,
  };
}
