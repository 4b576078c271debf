import type { Layout } from '../layout/layout.js';
import { LASTING_LAYOUT } from '../layout/named-layouts.js';
import { smallOdds } from './field-odds.js';
import type { KnownSystem } from './known-system.js';

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
