const tier = process.env['RAINDROP_TEST_TIER'];

/** Whether a test runs in full as it is, for `npm run mutants`: what it does in `npm test`, and what it does beside it. */
export const isEvery = tier === 'every';

/** Whether this is `npm run test:all`, which sets RAINDROP_TEST_TIER and runs what `npm test` leaves out. */
export const isFull = tier === 'all' || isEvery;

/** What part of its runs a random test makes in `npm test`. */
const SHARE = 10;

/**
 * How many runs a random test makes: all of them in `npm run test:all`, a tenth in `npm test`. What must be found in
 * them has to be found in a tenth as well.
 * @param usual how many in `npm test` instead of a tenth, where each takes long
 */
export function runs(full: number, usual = Math.max(1, Math.ceil(full / SHARE))): number {
  return isFull ? full : usual;
}
