import { DataSource, type DataSourceOptions } from 'typeorm';
import type { SqlServerKind } from '../../support/servers/database-admin.js';
import { isServer, type Bench, type Figure, type Measurement } from './figure.js';
import { startModuleBesideTypeorm } from './module-app.js';
import { SteadyCaller } from './steady-caller.js';
import { leaseStatus } from '../../support/module/lease-status.js';

const LEASE = { leaseMs: 2_000, heartbeatIntervalMs: 500, opTimeoutMs: 500 };
const SLEEP_S = 3;
const POOL = 2;
/** Queries: those that hold the connections, and as many again twice over that wait. */
const QUERIES = 3 * POOL;

/** The application's pool is full for several leases, with more queries waiting: that costs no call. */
export const saturatedPool: Figure = {
  name: 'saturated-pool',
  // SQLite has no pool: a long query there stops the whole process.
  measure: (bench) => Promise.all(bench.kinds.filter(isServer).map((kind) => measureOne(kind, bench))),
};

async function measureOne(kind: SqlServerKind, bench: Bench): Promise<Measurement> {
  const { options } = await bench.database(kind);
  const { ids, get, close } = await startModuleBesideTypeorm(
    { ...options, poolSize: POOL } as DataSourceOptions,
    LEASE,
  );
  const dataSource = get(DataSource);
  const sql = kind === 'postgres' ? `SELECT pg_sleep(${SLEEP_S})` : `SELECT SLEEP(${SLEEP_S})`;
  const beganMs = performance.now();
  const queries = Array.from({ length: QUERIES }, () => dataSource.query(sql));
  const caller = new SteadyCaller(() => ids.nextId());
  await Promise.all(queries);
  const lastedMs = performance.now() - beganMs;
  caller.stop();
  const { renewals, failures } = leaseStatus(ids);
  await close();
  const { good, failed } = caller;
  // Had the pool been larger, the queries would have been done sooner.
  const wasFull = lastedMs >= (QUERIES / POOL) * SLEEP_S * 1_000;
  return {
    figure: `the application's pool of ${POOL} full for ${(lastedMs / LEASE.leaseMs).toFixed(1)} leases`,
    database: kind,
    target: '0 failed calls',
    measured: `${failed.length} of ${good + failed.length} failed; ${renewals} renewals, ${failures} failed`,
    ok: failed.length === 0 && good > 1_000 && wasFull,
  };
}
