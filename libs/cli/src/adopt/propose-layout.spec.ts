import { createLayout, type LayoutOptions } from '@raindrop/core';
import fc from 'fast-check';
import { proposeLayout, type Proposal } from './propose-layout.js';

const now = Date.parse('2026-11-21T20:00:00Z');
const YEAR_MS = 365 * 86_400_000;
const MAX = 2n ** 63n - 1n;

function proposed(highest: bigint, wish: Partial<LayoutOptions> = {}): Proposal {
  const proposal = proposeLayout(highest, wish, now);
  if (proposal === undefined) throw new Error(`nothing for ${highest}`);
  return proposal;
}

describe('a proposed layout', () => {
  it('gives IDs above every old key, from now on and for at least 20 years, or is not proposed', () => {
    const anyKey = fc.oneof(fc.bigInt({ min: -5n, max: MAX }), fc.bigInt({ min: 0n, max: 2n ** 40n }));
    fc.assert(
      fc.property(anyKey, (highest) => {
        const proposal = proposeLayout(highest, {}, now);
        if (proposal === undefined) return expect(highest).toBeGreaterThan(2n ** 62n);
        const layout = createLayout(proposal.options, now);
        expect(proposal.floor).toBeGreaterThan(highest);
        // A service whose clock is a minute behind.
        expect(layout.idFloor(now - 60_000)).toBe(proposal.floor);
        expect(layout.expiresAt === null || layout.expiresAt.getTime() - now >= 20 * YEAR_MS).toBe(true);
        expect(JSON.parse(JSON.stringify(proposal.options))).toEqual(proposal.options);
      }),
    );
  });

  it.each([
    { what: 'an empty table', highest: 0n, bits: 40, epoch: '2026-11-21' },
    { what: 'keys of an int', highest: 2n ** 31n, bits: 40, epoch: '2026-11-21' },
    { what: 'more than a day can hold', highest: 2n ** 42n, bits: 40, epoch: '2026-11-15' },
    { what: 'keys past 2^53, where exact numbers are lost', highest: 2n ** 53n, bits: 33, epoch: '2026-08-16' },
    { what: "Twitter's keys", highest: 1_900_000_000_000_000_000n, bits: 33, epoch: '1970-10-26' },
  ])('for $what keeps exact JavaScript numbers while it can', ({ highest, bits, epoch }) => {
    const { options, plan } = proposed(highest);
    expect(options).toMatchObject({ timeUnit: 'second', timeStampLength: bits, startTimeStamp: epoch });
    const isSafe = plan.safeUntil !== null && Date.parse(plan.safeUntil) - now > 20 * YEAR_MS;
    expect(isSafe).toBe(bits === 40);
  });

  it('is one that meets the needs', () => {
    expect(proposed(9n, { expectedIdsPerSecond: 8_192 }).options.timeStampLength).toBe(40);
    expect(proposed(9n, { expectedIdsPerSecond: 8_193 }).options.timeStampLength).toBe(33);
    expect(proposed(9n, { expectedIdsPerSecond: 262_145 }).options.timeUnit).toBe('millisecond');
    expect(proposed(9n, { expectedNodes: 128 }).options.workIdLength).toBe(10);
  });

  it('has the bits that were asked for', () => {
    const wish = { timeUnit: 'second', timeStampLength: 35, workIdLength: 5, endBitsLength: 2 } as const;
    expect(proposed(5n, wish).options).toEqual({ ...wish, startTimeStamp: '2026-11-21' });
    expect(proposed(2n ** 60n, { timeUnit: 'millisecond' }).options).toMatchObject({ timeStampLength: 41 });
  });

  it('is none where the epoch that was asked for gives smaller IDs', () => {
    expect(proposeLayout(2n ** 60n, { startTimeStamp: '2026-01-01' }, now)).toBeUndefined();
    expect(proposed(2n ** 40n, { startTimeStamp: '2026-01-01' }).options.startTimeStamp).toBe('2026-01-01');
  });
});
