import { Layout } from '../layout/layout.js';
import { presets } from '../presets/presets.js';
import { smallOdds } from './field-odds.js';
import { DECIMAL, type KnownSystem } from './known-system.js';

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
