import { Layout, type LayoutParts } from '../layout/layout.js';
import { KEY_WORKER_ORIGINAL, presets } from '../presets/presets.js';
import { LASTING_LAYOUT } from '../layout/layout-options.js';

/** What is known of a system whose IDs can be told from those of others. */
export interface KnownSystem {
  readonly name: string;
  readonly title: string;
  readonly layout: Layout;
  /** When its first IDs were issued, Unix ms; the epoch may lie years before. */
  readonly sinceMs: number;
  /** How often such an ID is met, compared with the others. */
  readonly weight: number;
  /** In which forms its IDs are nearly always written. */
  readonly usual: RegExp;
  /** How probable the bits below the time are; all combinations together make 1. */
  readonly odds: (parts: LayoutParts) => number;
}

/** How the IDs of most systems are written. */
const DECIMAL = /^decimal|^signed$|^hex-0x$/;

/** Something else than a snowflake: it has no worker and no sequence. */
export interface ForeignId {
  readonly kind: 'uuid' | 'ulid' | 'objectId' | 'unixTime' | 'number';
  /** What it is, for people: `UUID of version 7`. */
  readonly title: string;
  /** When it was made, if it says so. */
  readonly time?: Date;
}

const UUID = /^(?:urn:uuid:)?\{?([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f])([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}\}?$/i;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;
const OBJECT_ID = /^[0-9a-f]{24}$/i;

/** Of 2001 to 2100: in seconds such a number has 10 digits, in milliseconds 12 or 13. */
const UNIX_SECONDS = { min: 978_307_200, max: 4_102_444_800 };

/** What counters reach; a snowflake is that small for a moment after its epoch. */
const MOST_COUNTED = 2 ** 40;

/** 100 ns between 1582-10-15, from which a UUID of version 1 counts, and 1970. */
const GREGORIAN_TICKS = 122_192_928_000_000_000n;

/** Tells what a text is that is no snowflake, or most probably none; undefined for all others. */
export function foreignId(text: string): ForeignId | undefined {
  if (/^\d{1,13}$/.test(text)) return numberOf(Number(text));
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
  return value < MOST_COUNTED ? { kind: 'number', title: 'plain number, as a counter gives it' } : undefined;
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

/** Workers count starts, and the sequence begins at zero or is anywhere in the ring of the cached generator. */
const uidOdds =
  (workers: number) =>
  ({ workerId, sequence }: LayoutParts): number =>
    smallOdds(workerId, workers, 1_000, 0.9) * smallOdds(sequence, 8_192, 2);

/** The machine is the low half of an address, the sequence that of ten milliseconds. */
const sonyOdds = ({ sequence }: LayoutParts): number => smallOdds(sequence, 256, 0.5, 0.9) / 2 ** 16;

/** Generators that anybody can run, with their own bits and epochs. */
export function librarySystems(): readonly KnownSystem[] {
  return [
    {
      ...{ name: 'sonyflake', title: 'Sonyflake', layout: presets.sonyflake(), weight: 0.2, usual: DECIMAL },
      sinceMs: Date.parse('2015-05-01'),
      odds: sonyOdds,
    },
    {
      ...{ name: 'sonyflake2', title: 'Sonyflake 2', weight: 0.1, usual: DECIMAL },
      layout: presets.sonyflake({ startTimeStamp: '2025-01-01' }),
      sinceMs: Date.parse('2025-01-01'),
      odds: sonyOdds,
    },
    {
      ...{ name: 'tsid', title: 'TSID', layout: presets.tsid(), weight: 0.08, usual: /^decimal|^base32/ },
      sinceMs: Date.parse('2020-01-01'),
      odds: () => 1 / 2 ** 22,
    },
    {
      ...{ name: 'uidGenerator', title: 'uid-generator', layout: presets.uidGenerator(), weight: 0.1, usual: DECIMAL },
      sinceMs: Date.parse('2016-05-20'),
      odds: uidOdds(2 ** 22),
    },
    {
      ...{ name: 'uidGeneratorReadme', title: "uid-generator with its README's bits", weight: 0.1, usual: DECIMAL },
      layout: presets.uidGenerator({ timeBits: 29, workerBits: 21, startTimeStamp: '2016-09-20T00:00:00+08:00' }),
      sinceMs: Date.parse('2016-09-20'),
      odds: uidOdds(2 ** 21),
    },
    {
      ...{ name: 'westid', title: 'westid', layout: presets.westid(), weight: 0.05, usual: DECIMAL },
      sinceMs: Date.parse('2017-03-24'),
      odds: ({ sequence }) => smallOdds(sequence, 4_096, 1, 0.3) / 1_024,
    },
    {
      ...{ name: 'keyWorker', title: 'KeyWorker', layout: KEY_WORKER_ORIGINAL, weight: 0.02, usual: DECIMAL },
      sinceMs: Date.parse('2015-01-01'),
      odds: ({ sequence }) => smallOdds(sequence, 4_096, 1) / 1_024,
    },
  ];
}

/** Twitter's data centres that public posts name. */
const TWITTER_CENTERS = new Set([0, 1, 2, 4, 10, 11, 12, 13]);

/** Two thirds of Discord's IDs come from worker 0 or 1 and process 0 to 2, or count far in the millisecond. */
function discordOdds({ workerId, sequence }: { workerId: number; sequence: number }): number {
  const isFew = workerId >> 5 <= 1 && (workerId & 31) <= 2;
  const few = isFew ? smallOdds(sequence, 4_096, 8) / 6 : 0;
  return 0.4 * few + (0.3 * smallOdds(sequence, 4_096, 1) + 0.3 / 4_096) / 1_024;
}

function twitterOdds({ workerId, sequence }: { workerId: number; sequence: number }): number {
  const center = 0.1 / 32 + (TWITTER_CENTERS.has(workerId >> 5) ? 0.9 / TWITTER_CENTERS.size : 0);
  return (center / 32) * smallOdds(sequence, 4_096, 1, 0.95);
}

/** Networks whose IDs everybody meets. What their fields usually hold was read off IDs that they have published. */
export function socialSystems(): readonly KnownSystem[] {
  return [
    {
      ...{ name: 'discord', title: 'Discord', layout: presets.discord(), weight: 1, usual: DECIMAL },
      sinceMs: Date.parse('2015-03-01'),
      odds: discordOdds,
    },
    {
      ...{ name: 'twitter', title: 'X (Twitter)', layout: presets.twitter(), weight: 1, usual: DECIMAL },
      sinceMs: Date.parse('2010-11-04'),
      odds: twitterOdds,
    },
    {
      ...{
        name: 'instagram',
        title: 'Instagram',
        layout: presets.instagram(),
        weight: 0.2,
        usual: /^decimal|^shortcode$/,
      },
      sinceMs: Date.parse('2011-08-24'),
      odds: () => 1 / 2 ** 23,
    },
    {
      // lib/mastodon/snowflake.rb of Mastodon: Unix ms above 16 bits that are partly random.
      ...{ name: 'mastodon', title: 'Mastodon', weight: 0.5, usual: DECIMAL },
      layout: new Layout({
        fields: [
          { name: 'timestamp', role: 'time', bits: 48 },
          { name: 'sequence', role: 'sequence', bits: 16 },
        ],
        unitMs: 1,
        epochMs: 0,
      }),
      sinceMs: Date.parse('2016-11-20'),
      odds: () => 1 / 2 ** 16,
    },
  ];
}

/** What applications have that chose nothing. */
export function raindropSystem(): KnownSystem {
  return systemOf(LASTING_LAYOUT, 'raindrop', "Raindrop's default layout", 0.5);
}

/** The asker's own layout: its IDs are what it meets most. */
export function ownSystem(layout: Layout): KnownSystem {
  return systemOf(layout, 'own', 'your layout', 300);
}

function systemOf(layout: Layout, name: string, title: string, weight: number): KnownSystem {
  const { maxWorkerId, maxSequence, endBitsValue } = layout;
  return {
    ...{ name, title, layout, weight, usual: /./ },
    sinceMs: layout.epochMs,
    odds: ({ workerId, clockBack, sequence, endBits }) => {
      if (endBits !== endBitsValue) return 0;
      const lane = layout.hasClockBack ? [0.95, 0.05][clockBack]! : 1;
      return lane * smallOdds(workerId, maxWorkerId + 1, 8) * smallOdds(sequence, maxSequence + 1, 8);
    },
  };
}

/**
 * How probable a field's value is where small ones are usual: half of the numbers lie around `mean` and fall off like a
 * counter that is seldom used, the others anywhere among `values`.
 * @param usual the share of the small ones, 0 to 1
 */
function smallOdds(value: number, values: number, mean: number, usual = 0.5): number {
  const step = mean / (mean + 1);
  return usual * (1 - step) * step ** value + (1 - usual) / values;
}
