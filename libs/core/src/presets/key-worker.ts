import type { IdLike } from '../codec/to-id.js';
import { Layout } from '../layout/layout.js';
import { parseId, type ParsedId } from '../layout/parse-id.js';
import { sequence, timestamp, worker } from './preset-fields.js';
import { presetLayout, type PresetOptions } from './preset-layout.js';
import { TWITTER_EPOCH_MS } from './twitter.js';

/** What stands in the original: Twitter's epoch with a digit too many and others changed. It lies in the year 2378. */
const ORIGINAL_EPOCH_MS = 12_888_349_746_579;

/**
 * The original subtracts that epoch, shifts by 22 and lets 64 bits overflow: what is left of the negative time is the time
 * modulo 2^42. Three turns earlier lies an epoch that all its IDs are counted from just as well, with no overflow: it
 * covers 1960-04-23 to 2099-09-05.
 */
const TURNED_EPOCH_MS = ORIGINAL_EPOCH_MS - 3 * 2 ** 42;

const FIELDS = [timestamp(42), worker(5, 'process'), worker(5, 'machine'), sequence(12)];

export const KEY_WORKER_ORIGINAL = new Layout({ fields: FIELDS, unitMs: 1, epochMs: TURNED_EPOCH_MS });

/**
 * KeyWorker's bits with the epoch that was meant, Twitter's; of 64 bits: 42 bits of milliseconds, process 5, machine 5,
 * sequence 12. Process and machine are one worker number, `process * 32 + machine`. Issues up to 2^63 - 1: until
 * 2080-07-10. IDs that KeyWorker itself has issued are read by {@link parseKeyWorkerId}.
 * @throws ConfigurationError naming every option that is wrong, and the original's epoch
 */
export function keyWorker(options: PresetOptions = {}): Layout {
  return presetLayout(options, { unitMs: 1, epochMs: TWITTER_EPOCH_MS, fields: FIELDS, epochProblem });
}

/**
 * Takes an ID apart that KeyWorker issued, with its epoch in the year 2378. It is no layout, because nothing may be
 * generated so: those IDs turn negative on 2029-12-29, and share their range with every KeyWorker that still runs.
 *
 * Right for IDs of 1960-04-23 to 2099-09-05. From 2029-12-29 on they are negative numbers in Java and in a signed column:
 * `BigInt.asUintN(64, id)` makes them what is read here.
 * @throws InvalidIdError when `id` is not a bigint, a canonical decimal string or a safe number from 0 to 2^64 - 1
 */
export function parseKeyWorkerId(id: IdLike): ParsedId {
  return parseId(KEY_WORKER_ORIGINAL, id);
}

function epochProblem(epochMs: number): string | undefined {
  if (epochMs !== ORIGINAL_EPOCH_MS && epochMs !== TURNED_EPOCH_MS) return undefined;
  return (
    `is KeyWorker's own epoch, of the year 2378 (or one that comes to the same): it is for reading only, ` +
    `by parseKeyWorkerId(); for generating leave startTimeStamp out or take a past date`
  );
}
