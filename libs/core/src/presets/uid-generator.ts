import { OptionReader } from '../config/option-reader.js';
import { type Field, type Layout, parseId } from '../layout/layout.js';
import type { IdLike } from '../codec/to-id.js';
import { presetLayout, type PresetOptions, sequence, timestamp, worker } from './preset-layout.js';

/** The bits may be shared out in another way; the sum stays. */
export interface UidGeneratorOptions extends PresetOptions {
  /** Bits of the seconds. Default 28: 8.5 years. */
  timeBits?: number;
  /** Bits of the worker: how many starts there are. Default 22, with a data centre 17. */
  workerBits?: number;
  /** Bits of the sequence: IDs a second. Default 13. */
  sequenceBits?: number;
}

export interface UidGeneratorGlobalOptions extends UidGeneratorOptions {
  /** The data centre that this deployment issues for, 0-31. */
  datacenterId: number;
}

/** 2016-05-19T16:00:00Z: midnight of 20 May in China. */
const EPOCH_MS = 1_463_673_600_000;

const DATACENTER_BITS = 5;

/**
 * The IDs of uid-generator: seconds 28, worker 22, sequence 13. With the original's epoch they ended on 2024-11-20:
 * without a later `startTimeStamp` the layout only reads, and generating throws `TimestampOverflowError`.
 * @throws ConfigurationError naming every option that is wrong, and bits that are not 63 together
 */
export function uidGenerator(options: UidGeneratorOptions = {}): Layout {
  const fields = (reader: OptionReader): readonly Field[] => {
    const bits = readBits(reader, 22, 63);
    return [timestamp(bits.time), worker(bits.worker), sequence(bits.sequence)];
  };
  return presetLayout(options, { unitMs: 1_000, epochMs: EPOCH_MS, fields });
}

/**
 * {@link uidGenerator} with 5 bits for a data centre between seconds and worker: seconds 28, data centre 5, worker 17,
 * sequence 13. The data centre is a fixed part of every ID issued; IDs of other centres are read as well, and show theirs
 * as `endBits`.
 * @throws ConfigurationError naming every option that is wrong, and bits that are not 58 without the data centre
 */
export function uidGeneratorGlobal(options: UidGeneratorGlobalOptions): Layout {
  const fields = (reader: OptionReader): readonly Field[] => {
    const value = reader.integer('datacenterId', { min: 0, max: 2 ** DATACENTER_BITS - 1 });
    const bits = readBits(reader, 17, 63 - DATACENTER_BITS);
    const datacenter: Field = { name: 'datacenter', role: 'fixed', bits: DATACENTER_BITS, value };
    return [timestamp(bits.time), datacenter, worker(bits.worker), sequence(bits.sequence)];
  };
  return presetLayout(options, { unitMs: 1_000, epochMs: EPOCH_MS, fields });
}

function readBits(
  reader: OptionReader,
  workerBits: number,
  total: number,
): { readonly time: number; readonly worker: number; readonly sequence: number } {
  const hint = `timeBits, workerBits and sequenceBits must be ${total} together`;
  const bitsOf = (name: string, standard: number): number =>
    reader.integer(name, { min: 1, max: 53, default: standard, hint });
  const bits = {
    time: bitsOf('timeBits', 28),
    worker: bitsOf('workerBits', workerBits),
    sequence: bitsOf('sequenceBits', 13),
  };
  const sum = bits.time + bits.worker + bits.sequence;
  if (sum !== total && !reader.refused('timeBits', 'workerBits', 'sequenceBits')) {
    const message = `with workerBits ${bits.worker} and sequenceBits ${bits.sequence} makes ${sum} bits: ${hint}`;
    reader.problem('timeBits', bits.time, message);
  }
  return bits;
}

/** The options say how the time is written. */
export interface UidJsonOptions {
  /**
   * The zone of the timestamp, by its IANA name, such as `Asia/Shanghai`. Default `UTC`, the same on every host; the
   * original took the zone that its JVM happened to have.
   */
  timeZone?: string;
}

/**
 * Answers what uid-generator's `parseUID` answers, letter for letter:
 * `{"UID":"...","timestamp":"yyyy-MM-dd HH:mm:ss","workerId":"...","sequence":"..."}`. Any layout will do; what is finer
 * than a second, and a data centre, has no place in this form.
 * @throws InvalidIdError when `id` is not an ID; TimestampOverflowError when its time lies beyond what a Date can hold
 * @throws ConfigurationError when an option is wrong
 */
export function uidJson(layout: Layout, id: IdLike, options: UidJsonOptions = {}): string {
  const format = readFormat(options);
  const parsed = parseId(layout, id);
  return JSON.stringify({
    UID: String(parsed.id),
    timestamp: dateTimeText(format, parsed.time),
    workerId: String(parsed.workerId),
    sequence: String(parsed.sequence),
  });
}

function readFormat(options: UidJsonOptions): Intl.DateTimeFormat {
  const reader = new OptionReader(options);
  const given = reader.value('timeZone') ?? 'UTC';
  const format = typeof given === 'string' ? formatIn(given) : undefined;
  if (format === undefined) {
    reader.problem('timeZone', given, `must be the IANA name of a time zone, such as 'Asia/Shanghai' or 'UTC'`);
  }
  reader.finish();
  return format!;
}

/** Undefined for a zone that there is not. */
function formatIn(timeZone: string): Intl.DateTimeFormat | undefined {
  const digits = '2-digit';
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: digits,
      day: digits,
      hour: digits,
      minute: digits,
      second: digits,
    });
  } catch {
    return undefined;
  }
}

/** From the parts: how a locale joins them differs from one version of its data to the next. */
function dateTimeText(format: Intl.DateTimeFormat, time: Date): string {
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const { year = '', month, day, hour, minute, second } = parts;
  return `${year.padStart(4, '0')}-${month}-${day} ${hour}:${minute}:${second}`;
}
