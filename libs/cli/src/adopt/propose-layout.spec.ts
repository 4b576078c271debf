import type { LayoutOptions } from '@raindrop/core';
import fc from 'fast-check';
import { layoutOfAnyLife } from '../options/module-options.js';
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
        const layout = layoutOfAnyLife(proposal.options, now);
        expect(proposal.floor).toBeGreaterThan(highest);
        // A service whose clock is a minute behind.
        expect(layout.idFloor(now - 60_000)).toBe(proposal.floor);
        expect(layout.expiresAt === null || layout.expiresAt.getTime() - now >= 20 * YEAR_MS).toBe(true);
        expect(JSON.parse(JSON.stringify(proposal.options))).toEqual(proposal.options);
      }),
    );
  });

  const NUMBER = { layout: 'number' };
  const DEFAULT = { timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };

  it.each([
    { what: 'an empty table', highest: 0n, options: NUMBER },
    { what: 'keys of an int', highest: 2n ** 31n, options: NUMBER },
    { what: 'what numbers reach by now', highest: 2n ** 48n, options: { ...NUMBER, startTimeStamp: '2025-10-29' } },
    { what: 'keys whose numbers end soon', highest: 2n ** 52n, options: { ...DEFAULT, startTimeStamp: '2026-01-01' } },
    { what: 'keys past 2^53', highest: 2n ** 53n, options: { ...DEFAULT, startTimeStamp: '2026-01-01' } },
    {
      what: "Twitter's keys",
      highest: 1_900_000_000_000_000_000n,
      options: { ...DEFAULT, startTimeStamp: '1970-10-26' },
    },
  ])(
    'for $what is one of the two shapes, with the epoch that the keys demand, while one lasts',
    ({ highest, options }) => {
      expect(proposed(highest).options).toMatchObject(options);
      if (!('startTimeStamp' in options)) return;
      expect(proposed(highest).options).toEqual(options);
    },
  );

  it('has the default epoch no longer where a later one is needed to last', () => {
    const later = Date.parse('2041-01-01T12:00:00Z');
    expect(proposeLayout(9n, {}, later)?.options).toEqual({ ...NUMBER, startTimeStamp: '2041-01-01' });
  });

  it('keeps exact numbers for 20 years and more', () => {
    for (const highest of [0n, 2n ** 31n, 2n ** 48n, 2n ** 50n]) {
      const { options, plan } = proposed(highest);
      expect(options).toMatchObject(NUMBER);
      expect(Date.parse(plan.safeUntil!) - now).toBeGreaterThan(20 * YEAR_MS);
    }
  });

  it('is one that meets the needs', () => {
    expect(proposed(9n, { expectedIdsPerSecond: 8_192 }).options).toEqual(NUMBER);
    expect(proposed(9n, { expectedIdsPerSecond: 8_193 }).options).toMatchObject(DEFAULT);
    expect(proposed(9n, { expectedNodes: 128 }).options).toMatchObject(DEFAULT);
    // No third shape for a rate that neither has: the plan warns.
    const fast = proposed(9n, { expectedIdsPerSecond: 262_145 });
    expect(fast.options).toMatchObject(DEFAULT);
    expect(fast.plan.warnings.map(({ code }) => code)).toContain('CAPACITY');
  });

  it('has the bits that were asked for', () => {
    const wish = { timeUnit: 'second', timeStampLength: 35, workIdLength: 5, endBitsLength: 2 } as const;
    expect(proposed(5n, wish).options).toEqual({ ...wish, startTimeStamp: '2026-01-01' });
    expect(proposed(2n ** 60n, { timeUnit: 'millisecond' }).options).toMatchObject({ timeStampLength: 41 });
  });

  it('is none where the epoch that was asked for gives smaller IDs', () => {
    expect(proposeLayout(2n ** 60n, { startTimeStamp: '2026-01-01' }, now)).toBeUndefined();
    expect(proposed(2n ** 40n, { startTimeStamp: '2026-01-01' }).options).toEqual(NUMBER);
    const given = { startTimeStamp: '2026-02-02' };
    expect(proposed(2n ** 40n, given).options).toEqual({ ...NUMBER, ...given });
  });
});
