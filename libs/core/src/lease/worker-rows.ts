import { isHeld } from './liveness.js';
import {
  FENCE_LEAP,
  type Odometer,
  type SampleRequest,
  type WorkerRow,
  type WorkerSample,
  type WorkerTable,
  type WorkerWrite,
} from './worker-store.js';

const UNUSED: Odometer = { ms: 0, sequence: -1 };

/** The row of a worker id that nobody has had, as {@link WorkerStore.prepare} creates it. */
export function unusedRow(id: number): WorkerRow {
  return {
    ...{ id, version: 0, ownVersion: 0, token: '', holder: '', layout: '', leaseUntilMs: 0 },
    ...{ lane: 0, odometers: [UNUSED, UNUSED], code: '', heartbeatMs: 0 },
  };
}

/**
 * The row that a {@link WorkerStore.write} leaves, at `nowMs` of the store's clock.
 * @param row as it is stored; undefined when it is missing or marked deleted
 * @returns undefined when the row is not as the write expects it: nothing is written then, and the answer is false
 */
export function writtenRow(row: WorkerRow | undefined, write: WorkerWrite, nowMs: number): WorkerRow | undefined {
  const { id, expected, token, holder, layout, lane, odometers, code, leaseMs } = write;
  if (row?.version !== expected.version || row.token !== expected.token) return undefined;
  const version = expected.version + 1;
  const times = { leaseUntilMs: nowMs + leaseMs, heartbeatMs: nowMs };
  return { id, version, ownVersion: version, token, holder, layout, lane, odometers, code, ...times };
}

/** The row that a {@link WorkerStore.fence} leaves, at `nowMs` of the store's clock. */
export function fencedRow(row: WorkerRow, aheadMs: number, nowMs: number): WorkerRow {
  const raised = ({ ms }: Odometer): Odometer => ({
    ms: Math.max(ms, nowMs + aheadMs),
    sequence: Number.MAX_SAFE_INTEGER,
  });
  const odometers = [raised(row.odometers[0]), raised(row.odometers[1])] as const;
  const versions = { version: row.version + FENCE_LEAP, ownVersion: row.ownVersion + FENCE_LEAP };
  return { ...row, ...versions, token: '', holder: '', leaseUntilMs: nowMs, odometers };
}

/** What {@link WorkerStore.readSample} answers, of the whole table. */
export function sampleRows(table: WorkerTable, { workers, from, atMost, graceMs }: SampleRequest): WorkerSample {
  const { nowMs, deleted, layouts, barredUntilMs } = table;
  const rows = table.rows.filter(({ id }) => id >= workers.min && id <= workers.max);
  const expired = rows.filter((row) => !isHeld(row, nowMs, graceMs));
  const freeSince = ({ token, leaseUntilMs }: WorkerRow): number => (token === '' ? 0 : leaseUntilMs);
  const turn = ({ id }: WorkerRow): number => (id < from ? 1 : 0);
  const free = expired
    .filter((row) => !isForeign(row))
    .sort((a, b) => freeSince(a) - freeSince(b) || turn(a) - turn(b) || a.id - b.id);
  const used = [...table.rows, ...deleted].map(({ layout }) => layout).filter((layout) => layout !== '');
  return {
    nowMs,
    ...(barredUntilMs !== undefined && { barredUntilMs }),
    rows: free.slice(0, atMost),
    total: rows.length,
    live: rows.length - expired.length,
    foreign: table.rows.filter(isForeign).length,
    layouts,
    layoutsOfRows: [...new Set(used)],
  };
}

/** The last writer was not us: the original's programs count `version` up and know no `own_version`. */
export function isForeign(row: WorkerRow): boolean {
  return row.code !== '' && row.ownVersion !== row.version;
}
