import type { KnownLayouts, WorkerRow, WorkerSample, WorkerTable } from '@raindrop/core';
import { safeInteger } from '../database/safe-integer.js';
import { KIND } from './look-statements.js';
import type { SqlResult } from '../database/run-sql.js';
import { isMarkedDeleted, readDeletedRow, readWorkerRow } from './worker-row-reader.js';

type Records = SqlResult['records'];

/** The answer to selectTable. */
export function tableOf(records: Records, floorMs: number): WorkerTable {
  // Whatever it is that stands there: what is no fingerprint is a layout nobody knows, and in the way.
  const layouts = records.map(({ fingerprint }) => fingerprint).filter((each) => each !== null);
  // A floor tells that commits may have been lost once, and layouts with them.
  return { ...rowsOf(records, floorMs), layouts: layouts.map(String), ...(floorMs > 0 && { mayLackLayouts: true }) };
}

/**
 * The answer to selectSample.
 * @throws CorruptWorkerRowError for any row of the table, in the sample or not
 */
export function sampleOf(records: Records, floorMs: number): WorkerSample {
  for (const record of ofKind(records, KIND.unreadable)) readWorkerRow(record);
  const found = ofKind(records, KIND.row);
  const { nowMs, rows } = rowsOf(found, floorMs);
  const count = (name: string): number => Number(found[0]?.[name]);
  return {
    ...(floorMs > 0 && { barredUntilMs: floorMs }),
    ...{ nowMs, rows, total: count('total'), live: count('live'), foreign: count('foreign_rows') },
    ...layoutsOf(records),
  };
}

/** The answer to selectRow. */
export function rowOf(
  records: Records,
  floorMs: number,
): { readonly nowMs: number; readonly row: WorkerRow | undefined } {
  const { nowMs, rows } = rowsOf(records, floorMs);
  return { nowMs, row: rows[0] };
}

/** The clock and the rows of what was selected; records of other things have no id. */
function rowsOf(records: Records, floorMs: number): Pick<WorkerTable, 'nowMs' | 'rows' | 'deleted' | 'barredUntilMs'> {
  const nowMs = safeInteger(records.find(({ now_ms }) => now_ms !== null)?.['now_ms'])!;
  const present = records.filter(({ id }) => id !== null);
  return {
    nowMs,
    rows: present.filter((record) => !isMarkedDeleted(record)).map((record) => readWorkerRow(record)),
    deleted: present.filter(isMarkedDeleted).flatMap(readDeletedRow),
    ...(floorMs > 0 && { barredUntilMs: floorMs }),
  };
}

function layoutsOf(records: Records): KnownLayouts {
  const fingerprints = (kind: number): string[] => ofKind(records, kind).map(({ fingerprint }) => String(fingerprint));
  return {
    layouts: fingerprints(KIND.noted),
    layoutsOfRows: fingerprints(KIND.ofRow).filter((fingerprint) => fingerprint !== ''),
  };
}

function ofKind(records: Records, kind: number): Records {
  return records.filter((record) => safeInteger(record['kind']) === kind);
}
