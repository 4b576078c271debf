import { ForeignTimeZoneError } from '@raindrop/core/internal';
import type { ResolvedLeaseOptions, WorkerStore, WorkerTable } from '@raindrop/core';
import { describeWorker } from '@raindrop/node/internal';
import { fail, ok, type Finding } from './finding.js';

/** Whether other programs, the Go original's above all, use the table, and whether that was agreed to. */
export async function checkForeign(
  store: WorkerStore,
  { rows, nowMs }: WorkerTable,
  { adoptForeign, sharedWithOriginal, graceMs }: ResolvedLeaseOptions,
): Promise<Finding> {
  const foreign = rows
    .filter((row) => describeWorker(row, nowMs, graceMs).state === 'foreign')
    .map(({ id }) => id)
    .sort((a, b) => a - b);
  const detail = `workers ${foreign.join(', ')} were last written by another program`;
  if (foreign.length > 0 && !adoptForeign) {
    return fail('other programs', `${detail}: no service starts`, WAYS_OUT);
  }
  if (foreign.length === 0 && !sharedWithOriginal) return ok('other programs', 'none');
  try {
    await store.checkForeignTimes?.();
  } catch (error) {
    if (!(error instanceof ForeignTimeZoneError)) throw error;
    return fail('other programs', error.message, 'see docs/migration.md, From Raindrop in Go');
  }
  const consent = sharedWithOriginal ? 'sharedWithOriginal' : 'adoptForeign';
  return ok('other programs', foreign.length === 0 ? `none now (${consent})` : `${detail} (${consent})`);
}

const WAYS_OUT =
  'a --table of its own and another value of the end bits, adoptForeign: true when that program is retired, or ' +
  'sharedWithOriginal: true while it runs';
