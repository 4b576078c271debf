/** Whether this is `npm run test:all`, which runs what `npm test` leaves out. */
export const isWholeTier = process.env['RAINDROP_TEST_TIER'] === 'all';

/** How often a random run repeats: a fifth of `full` in `npm test`. */
export function runs(full: number): number {
  return isWholeTier ? full : Math.max(1, Math.round(full / 5));
}
