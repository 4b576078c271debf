import type { IdLike } from '../codec/to-id.js';
import { OptionReader } from '../config/option-reader.js';
import { integer, type Numbers, option, type OptionsOf, readOptions } from '../config/option-rules.js';
import { type Field, Layout, type ParsedId, parseId } from '../layout/layout.js';
import { parseEpoch } from '../time/timeline.js';

const UID_GENERATOR_CENTER_BITS = 5;

/** The options that every preset takes. */
export const presetOptions = {
  /**
   * Another epoch than the original's. A later one makes the layout last longer, and its IDs smaller than those issued so
   * far: for new data only.
   * @range an ISO string (UTC unless it names a zone), a Date or Unix ms @defaultValue the original's
   */
  startTimeStamp: option<string | Date | number, number | undefined, PresetRule>(readStart),
};

/** The options that every preset takes. */
export interface PresetOptions extends OptionsOf<typeof presetOptions> {}

/** How many bits the worker has by default, and all three fields together. */
type UidWidths = Numbers<'standardWorkerBits' | 'total'>;

const widthsHint = ({ total }: UidWidths): string => `timeBits, workerBits and sequenceBits must add up to ${total}`;

/** The widths of uid-generator's fields. */
export const uidGeneratorOptions = {
  /** Bits of the seconds. The default lasts 8.5 years. @range 1-53 @defaultValue 28 */
  timeBits: integer({ min: 1, max: 53, default: 28, hint: widthsHint }),
  /**
   * Bits of the worker: uid-generator gives every start a new one.
   * @range 1-53 @defaultValue 22, with a data centre 17
   */
  workerBits: integer({
    min: 1,
    max: 53,
    default: ({ standardWorkerBits }: UidWidths) => standardWorkerBits,
    hint: widthsHint,
  }),
  /** Bits of the sequence: IDs a second. @range 1-53 @defaultValue 13 */
  sequenceBits: integer({ min: 1, max: 53, default: 13, hint: widthsHint }),
};

/** The options of {@link presets}`.uidGenerator`: the three widths must be 63 together. */
export interface UidGeneratorOptions extends PresetOptions, OptionsOf<typeof uidGeneratorOptions> {}

/** The options that a data centre adds. */
export const dataCentreOptions = {
  /** The data centre that this deployment issues for. @range 0-31 */
  datacenterId: integer({ min: 0, max: 2 ** UID_GENERATOR_CENTER_BITS - 1, isRequired: true }),
};

/** The options of {@link presets}`.uidGeneratorGlobal`: the three widths must be 58 together. */
export interface UidGeneratorGlobalOptions extends UidGeneratorOptions, OptionsOf<typeof dataCentreOptions> {}

/** The widths of TSIDs. */
export const tsidOptions = {
  /** Bits of the node; the counter has the rest of 22. @range 0-20 @defaultValue 10 */
  nodeBits: integer({ min: 0, max: 20, default: 10, hint: 'node and counter must add up to 22 bits' }),
};

/** The options of {@link presets}`.tsid`. */
export interface TsidOptions extends PresetOptions, OptionsOf<typeof tsidOptions> {}

/** 2010-11-04T01:42:54.657Z, of the snowflake server that Twitter published in 2010; KeyWorker meant to take the same. */
const TWITTER_EPOCH_MS = 1_288_834_974_657;

/**
 * The epoch in KeyWorker's code: Twitter's with a digit too many and others changed. It lies in the year 2378.
 */
const KEY_WORKER_EPOCH_MS = 12_888_349_746_579;

/**
 * KeyWorker subtracts that epoch, shifts the negative time by 22 and lets 64 bits overflow: its IDs hold the time modulo
 * 2^42. An epoch that is 3 * 2^42 ms earlier gives the same IDs without an overflow, from 1960-04-23 to 2099-09-05.
 */
const KEY_WORKER_EARLY_EPOCH_MS = KEY_WORKER_EPOCH_MS - 3 * 2 ** 42;

const KEY_WORKER_FIELDS = [timestamp(42), worker(5, 'process'), worker(5, 'machine'), sequence(12)];

/** 2016-05-19T16:00:00Z: midnight of 20 May in China. */
const UID_GENERATOR_EPOCH_MS = 1_463_673_600_000;

/**
 * 2011-08-24T21:07:01.721Z, from the function in Instagram's article. Its prose says 1 January 2011; the article's own
 * example (1,387,263,000 ms up to 9 September) and public media IDs prove the function right.
 */
const INSTAGRAM_EPOCH_MS = 1_314_220_021_721;

/**
 * The layouts of other ID systems, each a function that returns a `Layout`: for the module's option `layout`, for
 * `SnowflakeGenerator` and for `parseId`. A layout that has expired only reads. A layout of 64 bits reads IDs up to
 * 2^64 - 1 and issues them up to 2^63 - 1. See docs/presets.md.
 *
 * Every function throws a `ConfigurationError` that names every option that is wrong.
 */
export const presets = Object.freeze({
  /**
   * Twitter's snowflakes: 41 bits of milliseconds, data centre 5, machine 5, sequence 12. Data centre and machine are one
   * worker number, `dataCentre * 32 + machine`. Until 2080-07-10.
   */
  twitter: (options: PresetOptions = {}): Layout => {
    const fields = [timestamp(41), worker(5, 'datacenter'), worker(5, 'machine'), sequence(12)];
    return presetLayout(options, { unitMs: 1, epochMs: TWITTER_EPOCH_MS, fields });
  },

  /** westid's IDs: 41 bits of milliseconds, worker 10, sequence 12. Until 2086-11-29. */
  westid: (options: PresetOptions = {}): Layout => {
    const fields = [timestamp(41), worker(10), sequence(12)];
    return presetLayout(options, { unitMs: 1, epochMs: Date.parse('2017-03-24T09:04:43.706Z'), fields });
  },

  /**
   * uid-generator's IDs: seconds 28, worker 22, sequence 13, or other bits. With the original's epoch they ended on
   * 2024-11-20: without a later `startTimeStamp` the layout only reads, and generating throws `TimestampOverflowError`.
   */
  uidGenerator: (options: UidGeneratorOptions = {}): Layout => {
    const fields = (reader: OptionReader): readonly Field[] => {
      const bits = readBits(reader, 22, 63);
      return [timestamp(bits.time), worker(bits.worker), sequence(bits.sequence)];
    };
    return presetLayout(options, { unitMs: 1_000, epochMs: UID_GENERATOR_EPOCH_MS, fields });
  },

  /**
   * uid-generator's IDs with 5 bits for a data centre: seconds 28, data centre 5, worker 17, sequence 13, or other bits.
   * The data centre is a fixed part of every ID issued; IDs of other centres are read as well, and show theirs as
   * `endBits`.
   */
  uidGeneratorGlobal: (options: UidGeneratorGlobalOptions): Layout => {
    const fields = (reader: OptionReader): readonly Field[] => {
      const { datacenterId: value } = readOptions(reader, dataCentreOptions);
      const bits = readBits(reader, 17, 63 - UID_GENERATOR_CENTER_BITS);
      const datacenter: Field = { name: 'datacenter', role: 'fixed', bits: UID_GENERATOR_CENTER_BITS, value };
      return [timestamp(bits.time), datacenter, worker(bits.worker), sequence(bits.sequence)];
    };
    return presetLayout(options, { unitMs: 1_000, epochMs: UID_GENERATOR_EPOCH_MS, fields });
  },

  /**
   * KeyWorker's bits with the epoch that was meant, Twitter's; of 64 bits: 42 bits of milliseconds, process 5, machine 5,
   * sequence 12. Process and machine are one worker number, `process * 32 + machine`. Issues until 2080-07-10. It refuses
   * KeyWorker's own epoch: {@link parseKeyWorkerId} reads the IDs that KeyWorker has issued.
   */
  keyWorker: (options: PresetOptions = {}): Layout => {
    const epochProblem = (epochMs: number): string | undefined =>
      epochMs === KEY_WORKER_EPOCH_MS || epochMs === KEY_WORKER_EARLY_EPOCH_MS
        ? `is KeyWorker's own epoch in the year 2378, or equivalent: only parseKeyWorkerId() uses it; to generate ` +
          `IDs, omit startTimeStamp or use a past date`
        : undefined;
    return presetLayout(options, { unitMs: 1, epochMs: TWITTER_EPOCH_MS, fields: KEY_WORKER_FIELDS, epochProblem });
  },

  /**
   * Discord's snowflakes, of 64 bits: 42 bits of milliseconds, worker 5, process 5, sequence 12. Worker and process are
   * one worker number, `worker * 32 + process`. Issues until 2084-09-06, reads until 2154-05-15.
   */
  discord: (options: PresetOptions = {}): Layout => {
    const fields = [timestamp(42), worker(5), worker(5, 'process'), sequence(12)];
    return presetLayout(options, { unitMs: 1, epochMs: Date.parse('2015-01-01T00:00:00Z'), fields });
  },

  /**
   * Instagram's IDs, of 64 bits: 41 bits of milliseconds, logical shard 13, sequence 10. The shard is the worker. Issues
   * until 2046-06-27, reads until 2081-04-30.
   */
  instagram: (options: PresetOptions = {}): Layout => {
    const fields = [timestamp(41), worker(13, 'shard'), sequence(10)];
    return presetLayout(options, { unitMs: 1, epochMs: INSTAGRAM_EPOCH_MS, fields });
  },

  /**
   * Sonyflake's IDs: 39 bits of 10 ms, sequence 8, machine 16. The sequence lies above the machine. Until 2188-11-16. The
   * epoch is that of version 1; version 2 counts from 2025-01-01.
   */
  sonyflake: (options: PresetOptions = {}): Layout => {
    const fields = [timestamp(39), sequence(8), worker(16, 'machine')];
    return presetLayout(options, { unitMs: 10, epochMs: Date.parse('2014-09-01T00:00:00Z'), fields });
  },

  /**
   * TSIDs, of 64 bits: 42 bits of milliseconds, node and counter 22 together. Issues until 2089-09-06, reads until
   * 2159-05-15.
   */
  tsid: (options: TsidOptions = {}): Layout => {
    const fields = (reader: OptionReader): readonly Field[] => {
      const { nodeBits } = readOptions(reader, tsidOptions);
      return [timestamp(42), ...(nodeBits > 0 ? [worker(nodeBits, 'node')] : []), sequence(22 - nodeBits)];
    };
    return presetLayout(options, { unitMs: 1, epochMs: Date.parse('2020-01-01T00:00:00Z'), fields });
  },
});

/** KeyWorker's IDs as it has issued them. Only for reading. */
export const KEY_WORKER_ORIGINAL = new Layout({
  fields: KEY_WORKER_FIELDS,
  unitMs: 1,
  epochMs: KEY_WORKER_EARLY_EPOCH_MS,
});

/**
 * Takes an ID apart that KeyWorker issued, with its epoch in the year 2378. There is no preset for these IDs, because
 * nothing may be generated so: they turn negative on 2029-12-29, and every KeyWorker that still runs issues in their range.
 *
 * Right for IDs of 1960-04-23 to 2099-09-05. From 2029-12-29 on they are negative numbers in Java and in a signed column:
 * `BigInt.asUintN(64, id)` turns them into the number to pass here.
 * @throws InvalidIdError when `id` is not a bigint, a canonical decimal string or a safe number from 0 to 2^64 - 1
 */
export function parseKeyWorkerId(id: IdLike): ParsedId {
  return parseId(KEY_WORKER_ORIGINAL, id);
}

/** Reads the widths of uid-generator's fields. */
function readBits(
  reader: OptionReader,
  standardWorkerBits: number,
  total: number,
): { readonly time: number; readonly worker: number; readonly sequence: number } {
  const widths = { standardWorkerBits, total };
  const {
    timeBits: time,
    workerBits: worker,
    sequenceBits: sequence,
  } = readOptions(reader, uidGeneratorOptions, widths);
  const sum = time + worker + sequence;
  if (sum !== total && !reader.refused('timeBits', 'workerBits', 'sequenceBits')) {
    const message = `with workerBits ${worker} and sequenceBits ${sequence} makes ${sum} bits: ${widthsHint(widths)}`;
    reader.problem('timeBits', time, message);
  }
  return { time, worker, sequence };
}

/** The definition of one preset. */
interface PresetRule {
  readonly unitMs: number;
  /** The original's epoch, Unix ms. */
  readonly epochMs: number;
  /** The fields from the top, or how they follow from more options. */
  readonly fields: readonly Field[] | ((reader: OptionReader) => readonly Field[]);
  /** Says why an epoch is refused although it is a date; undefined when it may be taken. */
  readonly epochProblem?: (epochMs: number) => string | undefined;
}

/**
 * Checks the options of a preset and makes its layout. An epoch in the future is not refused, because there is no clock
 * here: a generator refuses it with `ClockBeforeEpochError`.
 * @throws ConfigurationError naming every option that is wrong
 */
function presetLayout(options: PresetOptions, rule: PresetRule): Layout {
  const reader = new OptionReader(options);
  const { startTimeStamp } = readOptions(reader, presetOptions, rule);
  const fields = typeof rule.fields === 'function' ? rule.fields(reader) : rule.fields;
  reader.finish();
  return new Layout({ fields, unitMs: rule.unitMs, epochMs: startTimeStamp! });
}

/** Reads the epoch; Unix ms. */
function readStart(reader: OptionReader, name: string, { epochMs, epochProblem }: PresetRule): number | undefined {
  const given = reader.value(name);
  const start = given === undefined ? epochMs : parseEpoch(given);
  const problem =
    start === undefined ? `must be an ISO date such as '2024-01-01', a Date or Unix ms` : epochProblem?.(start);
  if (problem !== undefined) reader.problem(name, given, problem);
  return start;
}

/** The ticks since the epoch, the highest bits. */
function timestamp(bits: number): Field {
  return { name: 'timestamp', role: 'time', bits };
}

/** A part of the worker number, under its name in the other system. */
function worker(bits: number, name = 'worker'): Field {
  return { name, role: 'worker', bits };
}

/** The counter inside a tick. */
function sequence(bits: number): Field {
  return { name: 'sequence', role: 'sequence', bits };
}
