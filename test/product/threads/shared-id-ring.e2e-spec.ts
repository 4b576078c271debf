import { until } from '../../support/until.js';
import { repeatedAmong } from '../../support/processes/repeated.js';
import { isAscending, openRing, takeWithThreads } from './real-ring.js';

jest.setTimeout(300_000);

const THREADS = 4;

describe('Four threads that take from one ring', () => {
  it.each([
    ['ten million IDs', 'the default one', 2_500_000, {}],
    ['a million IDs, one at a time', 'the smallest one', 250_000, { boostPower: 0, run: 1 }],
    ['a million IDs in long runs', 'the smallest one', 250_000, { boostPower: 0, run: 1_024, paddingFactor: 90 }],
  ])('get %s from %s: none is repeated, and each gets them in order', async (_, __, count, options) => {
    const ring = openRing(options);
    const all = await takeWithThreads(ring, THREADS, count);
    expect(all.every(isAscending)).toBe(true);
    expect(repeatedAmong(all)).toHaveLength(0);
    const { taken } = ring.status();
    expect(taken).toBeGreaterThanOrEqual(THREADS * count);
    expect(taken).toBeLessThan(THREADS * (count + ring.handle.run));
    ring.close();
  });

  it('and read the slots after they have moved the head, get IDs twice: the negative control', async () => {
    const round = async (): Promise<boolean> => {
      const ring = openRing({ boostPower: 0, run: 1_024, paddingFactor: 90 });
      const { length: repeated } = repeatedAmong(await takeWithThreads(ring, THREADS, 500_000, 'late'));
      ring.close();
      return repeated > 0;
    };
    // Whether two threads meet is up to the machine: usually in the first round.
    await until('an ID that was taken twice', round, { withinMs: 240_000 });
  });
});
