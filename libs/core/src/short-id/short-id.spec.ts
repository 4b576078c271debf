import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { ConfigurationError } from '../config/option-reader.js';
import { InvalidIdError } from '../codec/id-codec.js';
import { InvalidPartError } from '../layout/layout-errors.js';
import { foldId, MAX_EXPIRE_SECONDS, parseShortId, SHORT_ID_CYCLE_MS, shortIdLayout } from './short-id.js';

const EPOCH_MS = 1_490_346_283_706;

const parts = fc.record({
  tick: fc.integer({ min: 0, max: shortIdLayout.maxTick }),
  workerId: fc.nat(31),
  sequence: fc.nat(31),
});

describe('a short ID', () => {
  it('is the milliseconds since the epoch modulo 2^21, worker and sequence', () => {
    fc.assert(
      fc.property(parts, ({ tick, workerId, sequence }) => {
        const shortId = foldId(shortIdLayout.pack({ tick, workerId, clockBack: 0, sequence }));
        expect(shortId).toBe((tick % 2 ** 21) * 2 ** 10 + workerId * 2 ** 5 + sequence);
        expect(shortId).toBeLessThan(2 ** 31);
      }),
      { seed: 1, numRuns: 1_000 },
    );
  });

  it.each([
    [0, 1, 0, 32],
    [1, 1, 2, 1_058],
    [2 ** 21, 31, 31, 1_023],
    [2 ** 21 - 1, 31, 31, 2 ** 31 - 1],
    [282_528_000_000, 7, 3, 1_822_425_315],
  ])('%i ms after the epoch, of worker %i and sequence %i is %i', (tick, workerId, sequence, shortId) => {
    expect(foldId(shortIdLayout.pack({ tick, workerId, clockBack: 0, sequence }))).toBe(shortId);
    const near = new Date(EPOCH_MS + tick);
    expect(parseShortId(shortId, near)).toEqual({ shortId, time: near, workerId, sequence });
  });

  it('comes again after 34.95 minutes, and its layout lasts until 2295 inside the safe integers', () => {
    expect(SHORT_ID_CYCLE_MS / 60_000).toBeCloseTo(34.95);
    expect(MAX_EXPIRE_SECONDS).toBe(2_097);
    expect(shortIdLayout.expiresAt?.getUTCFullYear()).toBe(2295);
    expect(shortIdLayout.safeUntil).toEqual(shortIdLayout.expiresAt);
    expect(shortIdLayout).toMatchObject({ epochMs: EPOCH_MS, idsPerTick: 32, maxWorkerId: 31, hasClockBack: false });
  });

  it('says when it was issued, as long as it has not expired, also to a clock that is behind', () => {
    const expire = fc.integer({ min: 1, max: MAX_EXPIRE_SECONDS });
    fc.assert(
      fc.property(parts, expire, fc.double({ min: 0, max: 1, noNaN: true }), (each, expireSeconds, share) => {
        const timeMs = EPOCH_MS + each.tick;
        const slackMs = SHORT_ID_CYCLE_MS - expireSeconds * 1_000;
        // From the earliest to the latest moment of the cycle.
        const near = new Date(timeMs - slackMs + Math.floor(share * (SHORT_ID_CYCLE_MS - 1)));
        const shortId = foldId(shortIdLayout.pack({ ...each, clockBack: 0 }));
        fc.pre(shortId !== 0);
        expect(parseShortId(shortId, near, { expireSeconds })).toMatchObject({
          time: new Date(timeMs),
          workerId: each.workerId,
          sequence: each.sequence,
        });
      }),
      { seed: 4, numRuns: 1_000 },
    );
  });

  it.each([0, -1, 2 ** 31, 1.5, Number.NaN, '5', 5n, null, undefined])('is not %p', (shortId) => {
    expect(() => parseShortId(shortId as number, new Date())).toThrow(InvalidIdError);
  });

  it('is not parsed near no time, or with an expiry that is none', () => {
    expect(() => parseShortId(1, new Date('soon'))).toThrow(InvalidPartError);
    for (const near of ['2026', 1_700_000_000_000, null, undefined, {}, Object.create(null), Date]) {
      expect(() => parseShortId(1, near as Date)).toThrow(InvalidPartError);
      expect(() => parseShortId(1, near as Date)).toThrow(/^near = .* it must be a Date\.$/);
    }
    expect(parseShortId(1, runInNewContext('new Date(0)') as Date)).toMatchObject({ shortId: 1 });
    expect(() => parseShortId(1, new Date(), { expireSeconds: 2_098 })).toThrow(ConfigurationError);
  });
});
