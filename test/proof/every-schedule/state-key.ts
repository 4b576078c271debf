import type { MemoryWorkerTable } from '../../../libs/core/src/lease/memory-worker-store.js';
import type { WorkerRow } from '../../../libs/core/src/lease/worker-store.js';
import { startOfTick, type World } from './world.js';

/** Times that differ by less are taken for the same, ms. */
const GRAIN_MS = 200;

/** What is longer ago matters no more, ms: no clock is that far behind. */
const LONG_AGO_MS = 7_000;

/**
 * Everything of a world that decides what may happen in it, with times relative to now. Worlds with one key are taken
 * for the same: what was found in the first is not looked for in the second.
 */
export function stateKey(world: World): string {
  const { nowMs, errors, database, processes, issued, former, replica, backup, mustFence, failovers } = world;
  const ago = (ms: number): string => {
    const grains = Math.floor((ms - nowMs) / GRAIN_MS);
    return grains < -LONG_AGO_MS / GRAIN_MS ? '-' : String(grains);
  };
  const layoutNumber = new Map<string, number>();
  const layout = (fingerprint: string): number => {
    if (!layoutNumber.has(fingerprint)) layoutNumber.set(fingerprint, fingerprintRank(fingerprint));
    return layoutNumber.get(fingerprint)!;
  };
  const rowKey = (row: WorkerRow): string =>
    [
      ...[
        row.id,
        row.token === '' ? 'free' : ago(row.leaseUntilMs),
        layout(row.layout),
        row.lane,
        ago(row.heartbeatMs),
      ],
      ...row.odometers.map(({ ms, sequence }) => `${ago(ms)}${sequence === Number.MAX_SAFE_INTEGER ? '!' : ''}`),
    ].join(',');
  const tableKey = (table: MemoryWorkerTable | undefined): string => {
    if (table === undefined) return '';
    const { knownTerm, lostAtMs, reachMs, fencedUntilMs = 0 } = table.state;
    const layouts = [...table.layouts].map(layout).sort().join('+');
    return [
      [...table.rows.values()].map(rowKey).join('|'),
      layouts,
      knownTerm,
      ago(lostAtMs),
      reachMs,
      ago(fencedUntilMs),
    ].join(';');
  };
  const running = [...processes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([host, bench]) => {
      const { state, workerId, lane, limit } = bench.keeper.status();
      const { timeline } = bench.resolved.layout;
      const limits = limit.map(({ tick }) => (tick < 0 ? '-' : ago(timeline.startOf(tick))));
      const row = database.table.rows.get(workerId ?? 0);
      const isOurs = row !== undefined && bench.store.writes.at(-1)?.token === row.token;
      return [host, bench.layoutName, state, lane, ...limits, isOurs].join(',');
    });
  return [
    ...[errors.store, errors.hosts, mustFence, failovers, database.table.term],
    ...[database.table, replica, backup, former?.table].map(tableKey),
    ...[former?.term ?? '', running.join('|')],
    issued.highest.map(([lane, tick]) => `${lane}:${ago(startOfTick(tick))}`).join('|'),
    [...world.servedSinceBackup].sort().join('+'),
  ].join('/');
}

const ranks = new Map<string, number>([['', 0]]);

/** A short name of a fingerprint. */
function fingerprintRank(fingerprint: string): number {
  if (!ranks.has(fingerprint)) ranks.set(fingerprint, ranks.size);
  return ranks.get(fingerprint)!;
}
