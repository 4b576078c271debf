import { OptionReader } from '../config/option-reader.js';

/**
 * Tells the odds, 0 to 1, that of so many processes at least two hold the same worker id, when each draws one at
 * random: the birthday problem. Half is reached at 1.18 times the root of `ids`: 38 processes of 1,024 ids.
 * @param ids how many worker ids there are, 1 or more
 * @param processes how many run at the same time, 0-1,000,000
 * @throws ConfigurationError when one of them is not such a number
 */
export function collisionOdds(ids: number, processes: number): number {
  const reader = new OptionReader({ ids, processes });
  const all = reader.integer('ids', { min: 1, max: Number.MAX_SAFE_INTEGER });
  const drawn = reader.integer('processes', { min: 0, max: 1_000_000 });
  reader.finish();
  // Added up, not as 1 minus a product: that would lose small odds to rounding.
  let odds = 0;
  for (let taken = 0; taken < drawn && odds < 1; taken++) odds += (1 - odds) * Math.min(1, taken / all);
  return odds;
}
