import fc from 'fast-check';
import { MAX_DATE_MS, Timeline } from './timeline.js';

/** Division that rounds down, in whole numbers. */
function floorDiv(a: bigint, b: bigint): bigint {
  return a / b - (a % b < 0n ? 1n : 0n);
}

describe('a timeline', () => {
  it.each([
    { unit: 'millisecond', unitMs: 1, epoch: '2023-03-05T13:47:31.750Z', at: '2023-03-05T13:47:31.757Z', tick: 7 },
    { unit: 'second', unitMs: 1_000, epoch: '2023-03-05T13:47:31.750Z', at: '2023-03-05T13:47:34.250Z', tick: 3 },
    { unit: 'minute', unitMs: 60_000, epoch: '2023-03-05T13:47:31.750Z', at: '2023-03-05T13:50:10.000Z', tick: 3 },
    { unit: 'hour', unitMs: 3_600_000, epoch: '2023-03-05T13:47:31.750Z', at: '2023-03-05T15:05:00.000Z', tick: 2 },
    { unit: 'day', unitMs: 86_400_000, epoch: '2023-03-05T13:47:31.750Z', at: '2023-03-07T01:00:00.000Z', tick: 2 },
    { unit: 'second', unitMs: 1_000, epoch: '1969-12-31T23:59:59.500Z', at: '1970-01-01T00:00:00.250Z', tick: 1 },
    { unit: 'second', unitMs: 1_000, epoch: '2023-03-05T13:47:31.750Z', at: '2023-03-05T13:47:31.000Z', tick: 0 },
    { unit: 'second', unitMs: 1_000, epoch: '2023-03-05T13:47:31.750Z', at: '2023-03-05T13:47:30.999Z', tick: -1 },
  ])('counts whole units since the unit of the epoch: $unit, $epoch to $at', ({ unitMs, epoch, at, tick }) => {
    const timeline = new Timeline(unitMs, Date.parse(epoch));
    expect(timeline.tickAt(Date.parse(at))).toBe(tick);
    expect(timeline.startOf(tick)).toBe(Math.floor(Date.parse(at) / unitMs) * unitMs);
  });

  it('is exact for every moment that a Date can hold', () => {
    const moment = fc.oneof(
      fc.integer({ min: -MAX_DATE_MS, max: MAX_DATE_MS }),
      fc.integer({ min: MAX_DATE_MS - 100_000_000, max: MAX_DATE_MS }),
    );
    const unit = fc.oneof(
      fc.constantFrom(1, 10, 1_000, 60_000, 3_600_000, 86_400_000),
      fc.integer({ min: 1, max: 1e9 }),
    );
    fc.assert(
      fc.property(moment, moment, unit, (epoch, at, unitMs) => {
        const timeline = new Timeline(unitMs, epoch);
        const expected = floorDiv(BigInt(at), BigInt(unitMs)) - floorDiv(BigInt(epoch), BigInt(unitMs));
        fc.pre(expected <= BigInt(Number.MAX_SAFE_INTEGER) && expected >= -BigInt(Number.MAX_SAFE_INTEGER));
        expect(BigInt(timeline.tickAt(at))).toBe(expected);
        expect(timeline.startOf(Number(expected))).toBeLessThanOrEqual(at);
        expect(timeline.startOf(Number(expected)) + unitMs).toBeGreaterThan(at);
      }),
    );
  });

  it('knows the last tick of all Dates, and stops at the safe integers with an epoch in the far past', () => {
    const seconds = new Timeline(1_000, 0);
    expect(seconds.lastTick).toBe(8_640_000_000_000);
    expect(seconds.dateOf(seconds.lastTick)).toEqual(new Date(MAX_DATE_MS));
    expect(seconds.dateOf(seconds.lastTick + 1)).toBeNull();
    expect(new Timeline(1, -MAX_DATE_MS).lastTick).toBe(Number.MAX_SAFE_INTEGER);
  });
});
