import { RaindropError, type WorkerStore } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '@raindrop/node/internal';
import { checkClock } from './check-clock.js';
import { checkForeign } from './check-foreign.js';
import { checkLayout } from './check-layout.js';
import { checkRights } from './check-rights.js';
import { checkTable } from './check-table.js';
import { withFoundLayout } from './found-layout.js';
import { fail, ok, warn, type Finding } from './finding.js';
import { remedyFor } from './remedy-for.js';

/** Every check that the ones before it leave a sense to. It changes nothing in the database. */
export async function examine(store: WorkerStore, given: ResolvedSnowflakeOptions): Promise<Finding[]> {
  const { lease } = given;
  try {
    // The first call connects, which would count as the way of the second.
    await store.readTable();
    const before = Date.now();
    const table = await store.readTable();
    const after = Date.now();
    const { options, unclear } = withFoundLayout(given, table);
    const { layout } = options;
    return [
      ok('database', `reached, ${options.tableName} is there, answers in ${after - before} ms`),
      await checkRights(store, table, layout.layout.fingerprint),
      checkClock(before, table.nowMs, after, lease.maxClockSkewMs),
      ...(await checkDurability(store)),
      ...(unclear === undefined ? checkLayout(layout, table, lease.graceMs) : [unclear]),
      ...checkAdvice(options),
      await checkForeign(store, table, lease),
      ...checkTable(table, layout.workers, lease.graceMs, lease.sharedWithOriginal),
    ];
  } catch (error) {
    if (!(error instanceof RaindropError)) throw error;
    return [fail('database', error.message, remedyFor(error))];
  }
}

async function checkDurability(store: WorkerStore): Promise<Finding[]> {
  const warnings = await store.durabilityWarnings();
  if (warnings.length === 0) return [ok('durability', 'an acknowledged commit outlives a crash')];
  return warnings.map((each) =>
    warn('durability', each, 'change the setting, see docs/reliability.md#databases-that-lose-commits'),
  );
}

/** Of what a plan warns of, that which depends on how the service is used. */
function checkAdvice({ layout }: ResolvedSnowflakeOptions): Finding[] {
  return layout.warnings
    .filter(({ code }) => code === 'FEW_WORKERS' || code === 'CAPACITY')
    .map(({ message }) => warn('layout use', message, 'see raindrop plan'));
}
