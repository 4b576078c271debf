import { Layout, type LayoutParts } from '../layout/layout.js';
import { LASTING_LAYOUT, numberLayout, type WorkerRange } from '../layout/layout-options.js';
import { KEY_WORKER_ORIGINAL, presets } from '../presets/presets.js';

/** A system whose IDs can be told from those of others. */
export interface KnownSystem {
  readonly name: string;
  readonly title: string;
  readonly layout: Layout;
  /** When its first IDs were issued, Unix ms; the epoch may lie years before. */
  readonly sinceMs: number;
  /** How often its IDs are met, compared with those of the other systems. */
  readonly weight: number;
  /** The forms in which its IDs are nearly always written. */
  readonly usual: RegExp;
  /** The worker ids that issue, where they are known: the IDs of other workers are rare. */
  readonly workers?: WorkerRange | undefined;
  /** How probable the bits below the time are, 0 to 1: over all combinations the sum is 1. */
  readonly odds: (parts: LayoutParts) => number;
}

/** The forms in which the IDs of most systems are written. */
const DECIMAL = /^decimal|^signed$|^hex-0x$/;

/**
 * Every system that is known without a layout of the caller: Raindrop's two named layouts, networks with public IDs, and
 * generators that anyone can run, with their own bits and epochs. The networks' usual values were read off public IDs.
 */
export function knownSystems(): readonly KnownSystem[] {
  return [
    systemOf(LASTING_LAYOUT, 'raindrop', "Raindrop's default layout", 0.5),
    systemOf(numberLayout(), 'raindropNumber', "Raindrop's layout 'number'", 0.25),
    {
      name: 'discord',
      title: 'Discord',
      layout: presets.discord(),
      weight: 1,
      usual: DECIMAL,
      sinceMs: Date.parse('2015-03-01'),
      odds: discordOdds,
    },
    {
      name: 'twitter',
      title: 'X (Twitter)',
      layout: presets.twitter(),
      weight: 1,
      usual: DECIMAL,
      sinceMs: Date.parse('2010-11-04'),
      odds: twitterOdds,
    },
    {
      name: 'instagram',
      title: 'Instagram',
      layout: presets.instagram(),
      weight: 0.2,
      usual: /^decimal|^shortcode$/,
      sinceMs: Date.parse('2011-08-24'),
      odds: () => 1 / 2 ** 23,
    },
    {
      // lib/mastodon/snowflake.rb of Mastodon: Unix ms above 16 bits that are partly random.
      name: 'mastodon',
      title: 'Mastodon',
      weight: 0.5,
      usual: DECIMAL,
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
    {
      name: 'sonyflake',
      title: 'Sonyflake',
      layout: presets.sonyflake(),
      weight: 0.2,
      usual: DECIMAL,
      sinceMs: Date.parse('2015-05-01'),
      odds: sonyOdds,
    },
    {
      name: 'sonyflake2',
      title: 'Sonyflake 2',
      weight: 0.1,
      usual: DECIMAL,
      layout: presets.sonyflake({ startTimeStamp: '2025-01-01' }),
      sinceMs: Date.parse('2025-01-01'),
      odds: sonyOdds,
    },
    {
      name: 'tsid',
      title: 'TSID',
      layout: presets.tsid(),
      weight: 0.08,
      usual: /^decimal|^base32/,
      sinceMs: Date.parse('2020-01-01'),
      odds: () => 1 / 2 ** 22,
    },
    {
      name: 'uidGenerator',
      title: 'uid-generator',
      layout: presets.uidGenerator(),
      weight: 0.1,
      usual: DECIMAL,
      sinceMs: Date.parse('2016-05-20'),
      odds: uidOdds(2 ** 22),
    },
    {
      name: 'uidGeneratorReadme',
      title: "uid-generator with its README's bits",
      weight: 0.1,
      usual: DECIMAL,
      layout: presets.uidGenerator({ timeBits: 29, workerBits: 21, startTimeStamp: '2016-09-20T00:00:00+08:00' }),
      sinceMs: Date.parse('2016-09-20'),
      odds: uidOdds(2 ** 21),
    },
    {
      name: 'westid',
      title: 'westid',
      layout: presets.westid(),
      weight: 0.05,
      usual: DECIMAL,
      sinceMs: Date.parse('2017-03-24'),
      odds: ({ sequence }) => smallOdds(sequence, 4_096, 1, 0.3) / 1_024,
    },
    {
      name: 'keyWorker',
      title: 'KeyWorker',
      layout: KEY_WORKER_ORIGINAL,
      weight: 0.02,
      usual: DECIMAL,
      sinceMs: Date.parse('2015-01-01'),
      odds: ({ sequence }) => smallOdds(sequence, 4_096, 1) / 1_024,
    },
  ];
}

/**
 * The caller's own layout: its IDs are by far the most frequent ones there.
 * @param workers the worker ids of the caller's service; another service may share the layout
 */
export function ownSystem(layout: Layout, workers?: WorkerRange): KnownSystem {
  return { ...systemOf(layout, 'own', 'your layout', 300), workers };
}

function systemOf(layout: Layout, name: string, title: string, weight: number): KnownSystem {
  const { maxWorkerId, maxSequence, endBitsValue } = layout;
  return {
    name,
    title,
    layout,
    weight,
    usual: /./,
    sinceMs: layout.epochMs,
    odds: ({ workerId, clockBack, sequence, endBits }) => {
      if (endBits !== endBitsValue) return 0;
      const lane = layout.hasClockBack ? [0.95, 0.05][clockBack]! : 1;
      return lane * smallOdds(workerId, maxWorkerId + 1, 8) * smallOdds(sequence, maxSequence + 1, 8);
    },
  };
}

/** Twitter's data centres that occur in public posts. */
const TWITTER_CENTERS = new Set([0, 1, 2, 4, 10, 11, 12, 13]);

/**
 * 40 % of Discord's IDs are of workers 0 and 1 with processes 0 to 2. The others are of any worker and process: one half
 * has a small sequence, the other half any.
 */
function discordOdds({ workerId, sequence }: { workerId: number; sequence: number }): number {
  const isFew = workerId >> 5 <= 1 && (workerId & 31) <= 2;
  const few = isFew ? smallOdds(sequence, 4_096, 8) / 6 : 0;
  return 0.4 * few + (0.3 * smallOdds(sequence, 4_096, 1) + 0.3 / 4_096) / 1_024;
}

function twitterOdds({ workerId, sequence }: { workerId: number; sequence: number }): number {
  const center = 0.1 / 32 + (TWITTER_CENTERS.has(workerId >> 5) ? 0.9 / TWITTER_CENTERS.size : 0);
  return (center / 32) * smallOdds(sequence, 4_096, 1, 0.95);
}

/** The worker counts starts. The sequence begins at zero, or is anywhere in the ring of the cached generator. */
const uidOdds =
  (workers: number) =>
  ({ workerId, sequence }: LayoutParts): number =>
    smallOdds(workerId, workers, 1_000, 0.9) * smallOdds(sequence, 8_192, 2);

/** The machine is the low half of an IP address; the sequence begins at zero in every tick of 10 ms. */
const sonyOdds = ({ sequence }: LayoutParts): number => smallOdds(sequence, 256, 0.5, 0.9) / 2 ** 16;

/**
 * How probable a field's value is where small values are usual. The share `usual` of the IDs has small values, falling
 * off geometrically with the mean `mean`; the others have any of `values` values.
 * @param usual 0 to 1
 */
function smallOdds(value: number, values: number, mean: number, usual = 0.5): number {
  const step = mean / (mean + 1);
  return usual * (1 - step) * step ** value + (1 - usual) / values;
}
