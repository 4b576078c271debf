import { InvalidIdError } from '../codec/id-codec.js';
import type { WorkerRange } from '../layout/layout-options.js';
import type { Layout, ParsedId } from '../layout/layout.js';
import { wallClock } from '../ports.js';
import { RaindropError } from '../raindrop-error.js';
import { type KnownSystem, knownSystems, ownSystem } from './known-systems.js';
import { type WrittenForm, type WrittenId, writtenIds } from './written-ids.js';

/** What `recognizeId` may know in addition to the text. */
export interface RecognitionOptions {
  /** The caller's own layout; its IDs are the system `own`. */
  readonly layout?: Layout;
  /** The worker ids of the caller's service, with `layout`: an ID of another worker is never likely to be its own. */
  readonly workers?: WorkerRange;
  /** The present, Unix ms; by default this moment. */
  readonly nowMs?: number;
}

/**
 * `likely`: the system issued IDs at this time, and no other reading is as probable. `possible`: the system issued IDs at
 * this time. `unlikely`: it issued nothing then, or its IDs rarely have such bits below the time.
 */
export type Plausibility = 'likely' | 'possible' | 'unlikely';

/** One way to read a text. */
export interface IdReading {
  /** `own`, `raindrop` (the default layout), `raindropNumber`, the name of a preset, or another name of a known system. */
  readonly system: string;
  /** The system's name for people. */
  readonly title: string;
  readonly layout: Layout;
  readonly parsed: ParsedId;
  /** How the ID is written. */
  readonly form: WrittenForm;
  /** The prefix of a typed text. */
  readonly prefix?: string;
  readonly plausibility: Plausibility;
  /** Half a sentence: why it is likely, or why it is not more plausible. */
  readonly reason: string;
}

/** What a text can be. */
export interface Recognition {
  /** The ID alone, without quotes, separators and links around it. */
  readonly text: string;
  /** One for each system, from the most plausible down; empty when the text is no snowflake. */
  readonly readings: readonly IdReading[];
  /** The other kind of value that the text most probably is; readings may be there as well. */
  readonly foreign?: ForeignId;
}

/** A value that is no snowflake: it has no worker and no sequence. */
export interface ForeignId {
  readonly kind: 'uuid' | 'ulid' | 'objectId' | 'unixTime' | 'number';
  /** Its kind for people: `UUID of version 7`. */
  readonly title: string;
  /** When it was made, for kinds that hold a time. */
  readonly time?: Date;
}

/** Longer texts are neither IDs nor links to one. */
const LONGEST_TEXT = 300;

/** So far in the future a time still counts as issued: clocks differ, and some systems run ahead. */
const AHEAD_MS = 86_400_000;

/** A reading with a share below `least` of all readings is unlikely; one with `likely` or more is likely. */
const SHARES = { least: 1e-5, likely: 2 / 3 };

/** The score of a random number. It joins the sum: one weak reading is not likely only because it is alone. */
const NOISE = 0.05 / 2 ** 63;

/** Larger than every number that is taken for a time or a count. */
const SMALL_IDS = 2n ** 43n;

/** A system's unusual forms are that much rarer than its usual ones. */
const UNUSUAL = 0.05;

/** The same for IDs of workers that the service does not have. */
const OTHER_WORKER = 1e-4;

interface Weighed {
  readonly reading: Omit<IdReading, 'plausibility' | 'reason'>;
  readonly time: 'issued' | 'early' | 'future';
  readonly weight: number;
  readonly score: number;
  /** The worker ids of the service, if the ID's worker is not among them. */
  readonly otherThan: WorkerRange | undefined;
}

let known: readonly KnownSystem[] | undefined;

/**
 * Says what a text can be: in which form an ID is written (decimal, hex, base62, typed, a link ...), which system issued it
 * and when. The readings are ranked by their time and by the usual values of each system's fields: a reading is a guess,
 * not a proof. It never throws for a text, and needs neither a database nor, with `nowMs`, a clock.
 *
 * @throws InvalidIdError for what is no text
 *
 * ```ts
 * recognizeId('175928847299117063').readings[0]; // Discord, 2016-04-30T11:18:25.796Z, likely
 * ```
 */
export function recognizeId(given: string, options: RecognitionOptions = {}): Recognition {
  const { nowMs = wallClock.now() } = options;
  if (typeof given !== 'string') throw new InvalidIdError('text', given, 'a string');
  if (given.length > LONGEST_TEXT) return { text: given, readings: [] };
  const { text, system } = unwrapText(given);
  const foreign = system === undefined ? foreignId(text) : undefined;
  const systems = systemsWith(options).filter(({ name }) => system === undefined || name === system);
  const weighed = writtenIds(text).flatMap((written) =>
    systems.filter(({ name }) => (written.system ?? name) === name).flatMap((each) => weigh(written, each, nowMs)),
  );
  const readings = ranked(weighed);
  return foreign === undefined
    ? { text, readings }
    : { text, readings: readings.map((each) => doubted(each, nowMs)), foreign };
}

function systemsWith({ layout, workers }: RecognitionOptions): readonly KnownSystem[] {
  known ??= knownSystems();
  if (layout === undefined) return known;
  return [ownSystem(layout, workers), ...known.filter((each) => each.layout.fingerprint !== layout.fingerprint)];
}

function weigh(written: WrittenId, system: KnownSystem, nowMs: number): Weighed[] {
  const { id, form, prefix } = written;
  const { layout, sinceMs, name, title, workers } = system;
  if (BigInt.asUintN(layout.bits, id) !== id) return [];
  try {
    const parts = layout.unpack(id);
    const parsed = { id, time: new Date(layout.timeline.startOf(parts.tick)), ...parts };
    const endMs = Math.min(nowMs + AHEAD_MS, layout.expiresAt?.getTime() ?? Infinity);
    const ms = parsed.time.getTime();
    const time = ms >= endMs ? 'future' : ms + layout.unitMs <= sinceMs ? 'early' : 'issued';
    const ticks = Math.max(1, (endMs - sinceMs) / layout.unitMs);
    const isOther = workers !== undefined && (parts.workerId < workers.min || parts.workerId > workers.max);
    const usual = (system.usual.test(form) ? 1 : UNUSUAL) * (isOther ? OTHER_WORKER : 1);
    const weight = system.weight * written.weight * usual;
    const reading = { system: name, title, layout, parsed, form, ...(prefix !== undefined && { prefix }) };
    const score = time === 'issued' ? (weight * system.odds(parts)) / ticks : 0;
    return [{ reading, time, weight, score, otherThan: isOther ? workers : undefined }];
  } catch (error) {
    // unpack() throws for a time that no Date can hold.
    if (error instanceof RaindropError) return [];
    throw error;
  }
}

function ranked(weighed: readonly Weighed[]): readonly IdReading[] {
  const sum = weighed.reduce((total, { score }) => total + score, NOISE);
  const sorted = [...weighed].sort((a, b) => b.score - a.score || b.weight - a.weight);
  const systems = sorted.map(({ reading }) => reading.system);
  return sorted
    .filter(({ reading }, index) => systems.indexOf(reading.system) === index)
    .map((each) => ({ ...each.reading, ...judged(each, sum) }));
}

function judged({ reading, time, score, otherThan }: Weighed, sum: number): Pick<IdReading, 'plausibility' | 'reason'> {
  if (time === 'future') return { plausibility: 'unlikely', reason: 'this time is in the future' };
  if (time === 'early') return { plausibility: 'unlikely', reason: 'it issued no IDs before its start' };
  if (score < sum * SHARES.least) {
    return { plausibility: 'unlikely', reason: 'its IDs rarely have such bits below the time' };
  }
  if (otherThan !== undefined) {
    const { min, max } = otherThan;
    return { plausibility: 'possible', reason: `worker ${reading.parsed.workerId} is not one of ${min} to ${max}` };
  }
  if (score < sum * SHARES.likely) return { plausibility: 'possible', reason: 'it issued IDs at this time' };
  return { plausibility: 'likely', reason: 'its IDs have such times and fields' };
}

/** A small number is an ID only where the caller's own layout issues such small IDs at present. */
function doubted(reading: IdReading, nowMs: number): IdReading {
  const { system, layout, plausibility } = reading;
  const isSmall = layout.idFloor(nowMs) < SMALL_IDS;
  if (plausibility === 'unlikely' || (system === 'own' && isSmall)) return reading;
  return { ...reading, plausibility: 'unlikely', reason: 'numbers this small are rarely snowflakes' };
}

/** The ID without the quotes, separators and links that people copy with it. */
interface UnwrappedText {
  readonly text: string;
  /** The system that a link or a mention names. */
  readonly system?: string;
}

/** The links and mentions of each system; the first group is the ID. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/^(?:https?:\/\/)?(?:www\.|mobile\.)?(?:twitter|x)\.com\/\w{1,30}\/status(?:es)?\/(\d{1,20})\b/, 'twitter'],
  [/^(?:https?:\/\/)?(?:\w+\.)?discord(?:app)?\.com\/channels\/(?:[@\w]+\/){0,2}(\d{1,20})\/?$/, 'discord'],
  [/^<(?:[@#!&]{1,2}|a?:\w{1,64}:|t:|id:)(\d{1,20})>$/, 'discord'],
  [/^(?:https?:\/\/)?(?:www\.)?instagram\.com\/(?:p|reel|tv)\/([\w-]{5,11})(?![\w-])/, 'instagram'],
  [/^https?:\/\/[\w.-]{3,100}\/@\w{1,30}(?:@[\w.-]{3,100})?\/(\d{15,20})\/?$/, 'mastodon'],
];

/** Takes the ID out of a link or a mention; else removes blanks, quotes, separators of a list, and a bigint's `n`. */
function unwrapText(given: string): UnwrappedText {
  const trimmed = given.trim();
  for (const [place, system] of PLACES) {
    const text = place.exec(trimmed)?.[1];
    if (text !== undefined) return { text, system };
  }
  const bare = trimmed.replace(/^[\s"'`([]+|[\s"'`)\],;]+$/g, '');
  if (/^\d{1,3}(?:([_,.' ])\d{3})(?:\1\d{3})*$/.test(bare)) return { text: bare.replace(/\D/g, '') };
  return { text: /^\d+n$/.test(bare) ? bare.slice(0, -1) : bare };
}

const UUID = /^(?:urn:uuid:)?\{?([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f])([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}\}?$/i;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;
const OBJECT_ID = /^[0-9a-f]{24}$/i;

/** 2001 to 2100: in seconds such a number has 9 or 10 digits, in milliseconds 12 or 13. */
const UNIX_SECONDS = { min: 978_307_200, max: 4_102_444_800 };

/** Counters stay below this number; a snowflake does so only for a moment after its epoch. */
const MOST_COUNTED = 2 ** 40;

/** 100 ns between 1582-10-15, from which a UUID of version 1 counts, and 1970. */
const GREGORIAN_TICKS = 122_192_928_000_000_000n;

/** Returns the kind of a text that is no snowflake, or most probably none; undefined for all others. */
function foreignId(text: string): ForeignId | undefined {
  if (/^-?\d{1,13}$/.test(text)) return numberOf(Number(text));
  const uuid = UUID.exec(text);
  if (uuid !== null) return uuidOf(uuid[1]!, uuid[2]!, uuid[3]!, uuid[4]!);
  if (OBJECT_ID.test(text)) {
    return {
      kind: 'objectId',
      title: 'MongoDB ObjectId',
      time: new Date(Number.parseInt(text.slice(0, 8), 16) * 1_000),
    };
  }
  return ULID.test(text) ? { kind: 'ulid', title: 'ULID', time: new Date(base32Ms(text.slice(0, 10))) } : undefined;
}

function numberOf(value: number): ForeignId | undefined {
  const isTime = (seconds: number): boolean => seconds >= UNIX_SECONDS.min && seconds < UNIX_SECONDS.max;
  if (isTime(value)) return { kind: 'unixTime', title: 'Unix time in seconds', time: new Date(value * 1_000) };
  if (isTime(value / 1_000)) return { kind: 'unixTime', title: 'Unix time in milliseconds', time: new Date(value) };
  return value < MOST_COUNTED ? { kind: 'number', title: 'plain number' } : undefined;
}

function uuidOf(low: string, middle: string, version: string, high: string): ForeignId {
  const id = { kind: 'uuid', title: `UUID of version ${Number.parseInt(version, 16)}` } as const;
  if (version === '7') return { ...id, time: new Date(Number.parseInt(low + middle, 16)) };
  if (version !== '1') return id;
  const ticks = BigInt(`0x${high}${middle}${low}`) - GREGORIAN_TICKS;
  return { ...id, time: new Date(Number(ticks / 10_000n)) };
}

function base32Ms(digits: string): number {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return [...digits.toUpperCase()].reduce((ms, digit) => ms * 32 + alphabet.indexOf(digit), 0);
}
