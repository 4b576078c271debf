import type { Lane, Odometer, WorkerRow, WorkerWrite } from '@raindrop/core';
import { PermanentError, raiseOdometersTo } from '@raindrop/core/internal';

/** A worker's field in Redis holds what Raindrop cannot have written; nothing is guessed. */
export class CorruptRedisWorkerError extends PermanentError {
  readonly errorCode = 'CORRUPT_REDIS_WORKER';

  constructor(
    readonly key: string,
    readonly workerId: string,
  ) {
    super(
      `The field ${workerId} of the Redis key ${key} is no worker's row. Set the field deleted:${workerId} to 1: then no ` +
        `process uses this worker id.`,
    );
  }
}

/** A row that was never used. */
export const BLANK_ROW = [0, 0, '', '', 0, 0, 0, 0, -1, 0, -1, 0, '', ''].join('\n');

const LINE = String.raw`([^\n]*)\n`;
const NUMBER = String.raw`(-?\d{1,16})\n`;
/** One value a line: version, own version, token, layout, lease, heartbeat, lane, odometers, unit, code, holder. */
const ROW = new RegExp(
  `^${NUMBER.repeat(2)}${LINE.repeat(2)}${NUMBER.repeat(2)}([01])\\n${NUMBER.repeat(5)}${LINE}([^\\n]*)$`,
);

/**
 * A row as Redis keeps it.
 * @param floorMs no odometer is believed below the end of that moment's tick; 0 for none
 * @throws CorruptRedisWorkerError
 */
export function readWorkerText(key: string, id: string, text: string, floorMs: number): WorkerRow {
  const [, version, own, token, layout, lease, heartbeat, lane, ms0, seq0, ms1, seq1, , code, holder] =
    ROW.exec(text) ?? [];
  const number = (digits: string | undefined): number => {
    const value = Number(digits);
    if (!Number.isSafeInteger(value)) throw new CorruptRedisWorkerError(key, id);
    return value;
  };
  const odometer = (ms: string | undefined, sequence: string | undefined): Odometer => ({
    ms: number(ms),
    sequence: number(sequence),
  });
  return raiseOdometersTo(floorMs, {
    id: number(id),
    version: number(version),
    ownVersion: number(own),
    token: token!,
    holder: holder!,
    layout: layout!,
    leaseUntilMs: number(lease),
    lane: number(lane) as Lane,
    odometers: [odometer(ms0, seq0), odometer(ms1, seq1)],
    code: code!,
    heartbeatMs: number(heartbeat),
  });
}

/** What follows the times, which the script writes. */
export function endOfWorkerText({ lane, odometers, timeUnit, code, holder }: WorkerWrite): string {
  const [a, b] = odometers;
  return [lane, a.ms, a.sequence, b.ms, b.sequence, timeUnit, oneLine(code), oneLine(holder)].join('\n');
}

/** Only people read what may have several lines. */
function oneLine(text: string): string {
  return text.replaceAll('\n', ' ');
}
