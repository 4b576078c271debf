import { RaindropError } from '../raindrop-error.js';
import type { Layout, ParsedId } from '../layout/layout.js';
import { wallClock } from '../ports.js';
import {
  foreignId,
  type ForeignId,
  type KnownSystem,
  librarySystems,
  ownSystem,
  raindropSystem,
  socialSystems,
} from './known-systems.js';
import { type WrittenForm, type WrittenId, writtenIds } from './written-ids.js';

/** What `recognizeId` may know besides the text. */
export interface RecognitionOptions {
  /** The asker's own layout; its IDs are the system `own`. */
  readonly layout?: Layout;
  /** The present, Unix ms; by default this moment. */
  readonly nowMs?: number;
}

/**
 * `likely`: the time is one at which the system issued, and no other reading is as probable. `possible`: the time is such a
 * one. `unlikely`: the system issued nothing then, or the other bits are not as its IDs have them.
 */
export type Plausibility = 'likely' | 'possible' | 'unlikely';

/** One way to read a text. */
export interface IdReading {
  /** `own`, `raindrop` (the default layout), the name of a preset, or another name of a known system. */
  readonly system: string;
  /** The system's name for people. */
  readonly title: string;
  readonly layout: Layout;
  readonly parsed: ParsedId;
  /** How the ID is written. */
  readonly form: WrittenForm;
  /** What stands before the ID in a typed text. */
  readonly prefix?: string;
  readonly plausibility: Plausibility;
  /** Why it is not more plausible, or what makes it likely: half a sentence. */
  readonly reason: string;
}

/** What a text can be. */
export interface Recognition {
  /** The ID alone, without quotes, separators and links around it. */
  readonly text: string;
  /** One for each system, from the most plausible down; empty when the text is no snowflake. */
  readonly readings: readonly IdReading[];
  /** What the text is instead; with readings where it may be a snowflake even so. */
  readonly foreign?: ForeignId;
}

/** Longer texts are no IDs; links are. */
const LONGEST_TEXT = 300;

/** Clocks differ, and some systems run ahead. */
const AHEAD_MS = 86_400_000;

/** Below this share of all readings the bits speak against one, above the other it stands out. */
const SHARES = { least: 1e-5, likely: 2 / 3 };

/** That a text is 63 bits of anything: what makes a reading likely must be more than that. */
const NOISE = 0.05 / 2 ** 63;

/** Above every number that is taken for a time or a count. */
const SMALL_IDS = 2n ** 43n;

/** How much rarer the other forms are where one is usual. */
const UNUSUAL = 0.05;

interface Weighed {
  readonly reading: Omit<IdReading, 'plausibility' | 'reason'>;
  readonly time: 'issued' | 'early' | 'future';
  readonly weight: number;
  readonly score: number;
}

let known: readonly KnownSystem[] | undefined;

/**
 * Says what a text can be: in which form an ID is written (decimal, hex, base62, typed, a link ...), which system issued it
 * and when. All readings are ranked by the time that they give and by what the fields of known IDs hold; a guess stays a
 * guess. It never throws for a text, and needs neither a database nor a clock when `nowMs` is given.
 *
 * ```ts
 * recognizeId('175928847299117063').readings[0]; // Discord, 2016-04-30T11:18:25.796Z, likely
 * ```
 */
export function recognizeId(given: string, { layout, nowMs = wallClock.now() }: RecognitionOptions = {}): Recognition {
  if (given.length > LONGEST_TEXT) return { text: given, readings: [] };
  const { text, system } = unwrapText(given);
  const foreign = system === undefined ? foreignId(text) : undefined;
  const systems = systemsWith(layout).filter(({ name }) => system === undefined || name === system);
  const weighed = writtenIds(text).flatMap((written) =>
    systems.filter(({ name }) => (written.system ?? name) === name).flatMap((each) => weigh(written, each, nowMs)),
  );
  const readings = ranked(weighed);
  return foreign === undefined
    ? { text, readings }
    : { text, readings: readings.map((each) => doubted(each, nowMs)), foreign };
}

function systemsWith(layout: Layout | undefined): readonly KnownSystem[] {
  known ??= [raindropSystem(), ...socialSystems(), ...librarySystems()];
  if (layout === undefined) return known;
  return [ownSystem(layout), ...known.filter((each) => each.layout.fingerprint !== layout.fingerprint)];
}

function weigh(written: WrittenId, system: KnownSystem, nowMs: number): Weighed[] {
  const { id, form, prefix } = written;
  const { layout, sinceMs, name, title } = system;
  if (BigInt.asUintN(layout.bits, id) !== id) return [];
  try {
    const parts = layout.unpack(id);
    const parsed = { id, time: new Date(layout.timeline.startOf(parts.tick)), ...parts };
    const endMs = Math.min(nowMs + AHEAD_MS, layout.expiresAt?.getTime() ?? Infinity);
    const ms = parsed.time.getTime();
    const time = ms >= endMs ? 'future' : ms + layout.unitMs <= sinceMs ? 'early' : 'issued';
    const ticks = Math.max(1, (endMs - sinceMs) / layout.unitMs);
    const weight = system.weight * written.weight * (system.usual.test(form) ? 1 : UNUSUAL);
    const reading = { system: name, title, layout, parsed, form, ...(prefix !== undefined && { prefix }) };
    return [{ reading, time, weight, score: time === 'issued' ? (weight * system.odds(parts)) / ticks : 0 }];
  } catch (error) {
    // A time that no Date holds.
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

function judged({ time, score }: Weighed, sum: number): Pick<IdReading, 'plausibility' | 'reason'> {
  if (time === 'future') return { plausibility: 'unlikely', reason: 'this time has not come yet' };
  if (time === 'early') return { plausibility: 'unlikely', reason: 'it issued no IDs yet at this time' };
  if (score < sum * SHARES.least) {
    return { plausibility: 'unlikely', reason: 'its IDs rarely have such bits below the time' };
  }
  if (score < sum * SHARES.likely) return { plausibility: 'possible', reason: 'it issued IDs at this time' };
  return { plausibility: 'likely', reason: 'time and fields are as its IDs have them' };
}

/** Small numbers are IDs only where a layout issues such small ones at present. */
function doubted(reading: IdReading, nowMs: number): IdReading {
  const { system, layout, plausibility } = reading;
  const isSmall = layout.idFloor(nowMs) < SMALL_IDS;
  if (plausibility === 'unlikely' || (system === 'own' && isSmall)) return reading;
  return { ...reading, plausibility: 'unlikely', reason: 'so small a number is seldom a snowflake' };
}

/** A text without what people copy along with an ID. */
interface UnwrappedText {
  readonly text: string;
  /** The system that a link or a mention names. */
  readonly system?: string;
}

/** Where systems write their IDs; the first group is the ID. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/^(?:https?:\/\/)?(?:www\.|mobile\.)?(?:twitter|x)\.com\/\w{1,30}\/status(?:es)?\/(\d{1,20})\b/, 'twitter'],
  [/^(?:https?:\/\/)?(?:\w+\.)?discord(?:app)?\.com\/channels\/(?:[@\w]+\/){0,2}(\d{1,20})\/?$/, 'discord'],
  [/^<(?:[@#!&]{1,2}|a?:\w{1,64}:|t:|id:)(\d{1,20})>$/, 'discord'],
  [/^(?:https?:\/\/)?(?:www\.)?instagram\.com\/(?:p|reel|tv)\/([\w-]{5,11})(?![\w-])/, 'instagram'],
  [/^https?:\/\/[\w.-]{3,100}\/@\w{1,30}(?:@[\w.-]{3,100})?\/(\d{15,20})\/?$/, 'mastodon'],
];

/** Takes the ID out of a link or a mention; else off go blanks, quotes, separators of a list, and a bigint's `n`. */
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
