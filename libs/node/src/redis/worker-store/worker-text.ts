import type { WorkerRow, WorkerWrite } from '@raindrop/core';
import { type KeptRow, PermanentError, raiseOdometersTo, readKeptRow, type RowField } from '@raindrop/core/internal';
import { safeInteger } from '../../database/sql-values.js';

/** The field of a worker in Redis holds a text that Raindrop cannot have written. Nothing is guessed. */
export class CorruptRedisWorkerError extends PermanentError {
  static override readonly name = 'CorruptRedisWorkerError';
  readonly errorCode = 'CORRUPT_REDIS_WORKER';

  constructor(
    readonly key: string,
    readonly workerId: string,
  ) {
    super(
      `The field ${workerId} of the Redis key ${key} is not a worker row. Set the field deleted:${workerId} to 1, so ` +
        `that no process uses this worker id.`,
    );
  }
}

/** The values of a row in Redis, one a line, in this order. The scripts of worker-scripts.ts read and write the same. */
const LINES = [
  ...(['version', 'ownVersion', 'token', 'layout', 'leaseUntilMs', 'heartbeatMs', 'lane'] as const),
  ...(['odo0Ms', 'odo0Seq', 'odo1Ms', 'odo1Seq', 'timeUnit', 'code', 'holder'] as const),
];

/** A row that was never used. */
export const BLANK_ROW = [0, 0, '', '', 0, 0, 0, 0, -1, 0, -1, 0, '', ''].join('\n');

/**
 * Reads a row as Redis keeps it.
 * @param id the field of the hash that has the row
 * @param lostUntilMs no odometer is believed below the end of that moment's tick; 0 for none
 * @throws CorruptRedisWorkerError
 */
export function readWorkerText(key: string, id: string, text: string, lostUntilMs: number): WorkerRow {
  const lines = text.split('\n');
  const lineOf = (field: RowField | 'timeUnit'): string | undefined =>
    field === 'id' ? id : lines[LINES.indexOf(field)];
  const corrupt = (): CorruptRedisWorkerError => new CorruptRedisWorkerError(key, id);
  if (lines.length !== LINES.length || safeInteger(lineOf('timeUnit')) === undefined) throw corrupt();
  const kept: KeptRow = { integer: (field) => safeInteger(lineOf(field)), text: lineOf };
  return raiseOdometersTo(lostUntilMs, readKeptRow(kept, corrupt));
}

/** The lines after the times. The script writes those before them. */
export function endOfWorkerText({ lane, odometers, timeUnit, code, holder }: WorkerWrite): string {
  const [a, b] = odometers;
  return [lane, a.ms, a.sequence, b.ms, b.sequence, timeUnit, oneLine(code), oneLine(holder)].join('\n');
}

/** Code and holder are for people: a line break in them becomes a space. */
function oneLine(text: string): string {
  return text.replaceAll('\n', ' ');
}
