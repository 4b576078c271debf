import { type Field, Layout, type ParsedId, parseId } from '../layout/layout.js';
import type { IdLike } from '../codec/to-id.js';
import type { OptionReader } from '../config/option-reader.js';
import { uidGenerator, uidGeneratorGlobal } from './uid-generator.js';
import { presetLayout, type PresetOptions, sequence, timestamp, worker } from './preset-layout.js';

/**
 * The layouts of other ID systems, each a function that returns a `Layout`: for the module's option `layout`, for
 * `SnowflakeGenerator` and for `parseId`. A layout that has expired only reads. See docs/presets.md.
 */
export const presets = Object.freeze({
  /** Twitter's snowflakes: 41 bits of milliseconds, data centre 5, machine 5, sequence 12; until 2080-07-10. */
  twitter,
  /** westid's: 41 bits of milliseconds, worker 10, sequence 12; until 2086-11-29. */
  westid,
  /** uid-generator's: seconds 28, worker 22, sequence 13, or other bits; with the original's epoch it only reads. */
  uidGenerator,
  /** The same with 5 bits for a data centre, a fixed part of every ID. */
  uidGeneratorGlobal,
  /** KeyWorker's bits with the epoch that was meant: 42 bits of milliseconds, process 5, machine 5, sequence 12. */
  keyWorker,
  /** Discord's, of 64 bits: 42 bits of milliseconds, worker 5, process 5, sequence 12; issues until 2084-09-06. */
  discord,
  /** Instagram's, of 64 bits: 41 bits of milliseconds, shard 13, sequence 10; issues until 2046-06-27. */
  instagram,
  /** Sonyflake's: 39 bits of 10 ms, sequence 8, machine 16; until 2188-11-16. */
  sonyflake,
  /** TSIDs, of 64 bits: 42 bits of milliseconds, node and counter 22 together; issues until 2089-09-06. */
  tsid,
});

/** 2015-01-01T00:00:00Z. */
const DISCORD_EPOCH_MS = 1_420_070_400_000;

/**
 * Discord's snowflakes, of 64 bits: 42 bits of milliseconds, worker 5, process 5, sequence 12. Worker and process are one
 * worker number, `worker * 32 + process`. Reads up to 2^64 - 1 (2154-05-15), issues up to 2^63 - 1: until 2084-09-06.
 * @throws ConfigurationError naming every option that is wrong
 */
function discord(options: PresetOptions = {}): Layout {
  const fields = [timestamp(42), worker(5), worker(5, 'process'), sequence(12)];
  return presetLayout(options, { unitMs: 1, epochMs: DISCORD_EPOCH_MS, fields });
}

/**
 * 2011-08-24T21:07:01.721Z, from the function in Instagram's article; its prose says 1 January 2011, and the article's own
 * example (1,387,263,000 ms up to 9 September) as well as public media IDs prove the function right.
 */
const INSTAGRAM_EPOCH_MS = 1_314_220_021_721;

/**
 * Instagram's IDs, of 64 bits: 41 bits of milliseconds, logical shard 13, sequence 10. The shard is the worker. Reads up to
 * 2^64 - 1 (2081-04-30), issues up to 2^63 - 1: until 2046-06-27.
 * @throws ConfigurationError naming every option that is wrong
 */
function instagram(options: PresetOptions = {}): Layout {
  const fields = [timestamp(41), worker(13, 'shard'), sequence(10)];
  return presetLayout(options, { unitMs: 1, epochMs: INSTAGRAM_EPOCH_MS, fields });
}

/** 2010-11-04T01:42:54.657Z, of the snowflake server that Twitter published in 2010; KeyWorker's was meant to be it. */
const TWITTER_EPOCH_MS = 1_288_834_974_657;

/**
 * Twitter's snowflakes: 41 bits of milliseconds, data centre 5, machine 5, sequence 12. Data centre and machine are one
 * worker number, `dataCentre * 32 + machine`. Until 2080-07-10.
 * @throws ConfigurationError naming every option that is wrong
 */
function twitter(options: PresetOptions = {}): Layout {
  const fields = [timestamp(41), worker(5, 'datacenter'), worker(5, 'machine'), sequence(12)];
  return presetLayout(options, { unitMs: 1, epochMs: TWITTER_EPOCH_MS, fields });
}

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
function keyWorker(options: PresetOptions = {}): Layout {
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

/** 2014-09-01T00:00:00Z, of version 1; version 2 counts from 2025-01-01. */
const SONYFLAKE_EPOCH_MS = 1_409_529_600_000;

/**
 * Sonyflake's IDs: 39 bits of 10 ms, sequence 8, machine 16. The sequence lies above the machine. Until 2188-11-16.
 * @throws ConfigurationError naming every option that is wrong
 */
function sonyflake(options: PresetOptions = {}): Layout {
  const fields = [timestamp(39), sequence(8), worker(16, 'machine')];
  return presetLayout(options, { unitMs: 10, epochMs: SONYFLAKE_EPOCH_MS, fields });
}

export interface TsidOptions extends PresetOptions {
  /** Bits of the node, 0-20; the counter has the rest of 22. Default 10, as in the original. */
  nodeBits?: number;
}

/** 2020-01-01T00:00:00Z. */
const TSID_EPOCH_MS = 1_577_836_800_000;

/**
 * TSIDs, of 64 bits: 42 bits of milliseconds, node and counter 22 together. Reads up to 2^64 - 1 (2159-05-15), issues up
 * to 2^63 - 1: until 2089-09-06.
 * @throws ConfigurationError naming every option that is wrong
 */
function tsid(options: TsidOptions = {}): Layout {
  return presetLayout(options, { unitMs: 1, epochMs: TSID_EPOCH_MS, fields: readFields });
}

function readFields(reader: OptionReader): readonly Field[] {
  const hint = 'node and counter are 22 bits together';
  const nodeBits = reader.integer('nodeBits', { min: 0, max: 20, default: 10, hint });
  return [timestamp(42), ...(nodeBits > 0 ? [worker(nodeBits, 'node')] : []), sequence(22 - nodeBits)];
}

/** 2017-03-24T09:04:43.706Z. */
const WESTID_EPOCH_MS = 1_490_346_283_706;

/**
 * The IDs of westid: 41 bits of milliseconds, worker 10, sequence 12. Until 2086-11-29.
 * @throws ConfigurationError naming every option that is wrong
 */
function westid(options: PresetOptions = {}): Layout {
  const fields = [timestamp(41), worker(10), sequence(12)];
  return presetLayout(options, { unitMs: 1, epochMs: WESTID_EPOCH_MS, fields });
}
