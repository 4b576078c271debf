/** Units of a second, and columns, are coarser than a clock. */
const COARSE_MS = 1_000;

/** A time lies between a look at this host's clock and now, however long ago that look was. */
export function expectSince(beforeMs: number, time: number): void {
  expect(time).toBeGreaterThanOrEqual(beforeMs - COARSE_MS);
  expect(time).toBeLessThanOrEqual(Date.now() + COARSE_MS);
}
