import { InvalidIdError } from '../codec/id-codec.js';
import { integer, type OptionsOf, resolveOptions } from '../config/option-rules.js';
import { Layout } from '../layout/layout.js';
import { InvalidPartError } from '../layout/layout-errors.js';
import { showValue } from '../show-value.js';
import { MAX_DATE_MS } from '../time/timeline.js';

/**
 * The layout of the IDs that short IDs are folded from: 43 bits of milliseconds since westid's epoch (until 2295),
 * worker 5, sequence 5. Give it to the service that leases the workers of a {@link ShortIdGenerator}; its own IDs are
 * not short. There is no clock-back bit: a number that repeats after 35 minutes has no room for a second lane.
 */
export const shortIdLayout = new Layout({
  unitMs: 1,
  epochMs: 1_490_346_283_706,
  fields: [
    { name: 'timestamp', role: 'time', bits: 43 },
    { name: 'worker', role: 'worker', bits: 5 },
    { name: 'sequence', role: 'sequence', bits: 5 },
  ],
});

/** The parts of a short ID. */
export interface ParsedShortId {
  readonly shortId: number;
  readonly time: Date;
  readonly workerId: number;
  readonly sequence: number;
}

const BITS = 31;
const MAX_SHORT_ID = 2 ** BITS - 1;

/** Every number comes again after this time, ms: 34.95 minutes. */
export const SHORT_ID_CYCLE_MS = 2 ** (BITS - shortIdLayout.lowBits);

/** The longest time for which numbers can differ, if all clocks are right. */
export const MAX_EXPIRE_SECONDS = Math.floor(SHORT_ID_CYCLE_MS / 1_000);

/** A minute less, for clocks that are set forward and for hosts whose clocks differ by `maxClockSkewMs` either way. */
export const DEFAULT_EXPIRE_SECONDS = MAX_EXPIRE_SECONDS - 60;

/** The options say how long a short ID stays unique. */
export const shortIdOptions = {
  /**
   * For how long a number must not come again, in seconds. The default leaves the clocks a minute.
   * @range 1-2,097
   * @defaultValue 2,037
   */
  expireSeconds: integer({ min: 1, max: MAX_EXPIRE_SECONDS, default: DEFAULT_EXPIRE_SECONDS }),
};

/** The options say how long a short ID stays unique. */
export interface ShortIdOptions extends OptionsOf<typeof shortIdOptions> {}

/** Folds an ID of {@link shortIdLayout}: the short ID has its time modulo the cycle. */
export function foldId(id: bigint): number {
  return Number(BigInt.asUintN(BITS, id));
}

/**
 * Reads the parts of a short ID, which any generator may have issued. A short ID has its time modulo a cycle of 34.95
 * minutes. Of the possible times this returns the one that lies less than `expireSeconds` before `near`, or after
 * `near` by at most the rest of the cycle, for clocks that differ. Example: with the default of 2,037 s, a time from
 * 2,037 s before `near` to 60 s after it.
 * @param near a moment at which the number was still valid
 * @throws InvalidIdError when it is not an integer from 1 to 2^31 - 1; InvalidPartError when `near` is no time;
 * ConfigurationError naming the option that is wrong
 */
export function parseShortId(shortId: number, near: Date, options: ShortIdOptions = {}): ParsedShortId {
  const { expireSeconds } = resolveOptions(shortIdOptions, options);
  if (!Number.isInteger(shortId) || shortId < 1 || shortId > MAX_SHORT_ID) {
    throw new InvalidIdError('short ID', shortId, `an integer from 1 to ${MAX_SHORT_ID}`);
  }
  if (!isDate(near)) throw new InvalidPartError('near', showValue(near), MAX_DATE_MS, 'a Date');
  if (Number.isNaN(near.getTime())) throw new InvalidPartError('near', near, MAX_DATE_MS, 'a valid Date');
  const { tick, workerId, sequence } = shortIdLayout.unpack(BigInt(shortId));
  const { timeline } = shortIdLayout;
  const latest = timeline.tickAt(near.getTime()) + SHORT_ID_CYCLE_MS - expireSeconds * 1_000;
  const cycles = Math.floor((latest - tick) / SHORT_ID_CYCLE_MS);
  return { shortId, time: new Date(timeline.startOf(tick + cycles * SHORT_ID_CYCLE_MS)), workerId, sequence };
}

/** Checks the tag: `instanceof` would refuse a Date of another realm. */
function isDate(value: unknown): value is Date {
  return Object.prototype.toString.call(value) === '[object Date]';
}
