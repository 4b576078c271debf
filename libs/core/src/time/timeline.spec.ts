import fc from 'fast-check';
import { findTimeUnit, MAX_DATE_MS, parseEpoch, Timeline } from './timeline.js';

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

describe('an epoch', () => {
  it.each([
    ['a day', '2023-03-05', Date.UTC(2023, 2, 5)],
    ['a minute without a zone, which is UTC on every host', '2023-03-05T13:47', Date.UTC(2023, 2, 5, 13, 47)],
    ['a second without a zone', '2023-03-05T13:47:31', Date.UTC(2023, 2, 5, 13, 47, 31)],
    ['a space in place of the T', '2023-03-05 13:47:31', Date.UTC(2023, 2, 5, 13, 47, 31)],
    ['tenths', '2023-03-05T13:47:31.5', Date.UTC(2023, 2, 5, 13, 47, 31, 500)],
    ['hundredths', '2023-03-05T13:47:31.05', Date.UTC(2023, 2, 5, 13, 47, 31, 50)],
    ['milliseconds', '2023-03-05T13:47:31.007Z', Date.UTC(2023, 2, 5, 13, 47, 31, 7)],
    ['Z', '2023-03-05T13:47:31Z', Date.UTC(2023, 2, 5, 13, 47, 31)],
    ['lower case', '2023-03-05t13:47:31z', Date.UTC(2023, 2, 5, 13, 47, 31)],
    ['an eastern zone', '2016-05-20T00:00+08:00', Date.UTC(2016, 4, 19, 16)],
    ['a western zone of half hours', '2023-03-05T13:47:31-03:30', Date.UTC(2023, 2, 5, 17, 17, 31)],
    ['a zone without a colon', '2023-03-05 00:30+0530', Date.UTC(2023, 2, 4, 19)],
    ['the widest zones', '2023-03-05T00:00-23:59', Date.UTC(2023, 2, 5, 23, 59)],
    ['blanks around it', ' 2023-03-05 ', Date.UTC(2023, 2, 5)],
    ['29 February of a leap year', '2024-02-29', Date.UTC(2024, 1, 29)],
    ['the last ms of a year', '2023-12-31T23:59:59.999', Date.UTC(2023, 11, 31, 23, 59, 59, 999)],
    ['a time before 1970', '1969-12-31T23:59:59.500Z', -500],
    ['a year that JavaScript takes for one of the 20th century', '0050-01-01', -60_589_296_000_000],
  ])('is read from %s', (_, text, ms) => expect(parseEpoch(text)).toBe(ms));

  it('is read from a Date and from Unix ms', () => {
    expect(parseEpoch(new Date(1_672_531_200_123))).toBe(1_672_531_200_123);
    expect(parseEpoch(1_672_531_200_123)).toBe(1_672_531_200_123);
    expect(parseEpoch(0)).toBe(0);
    expect(parseEpoch(-1)).toBe(-1);
    expect(parseEpoch(8_640_000_000_000_000)).toBe(8_640_000_000_000_000);
  });

  it.each([
    '', 'now', '2023', '2023-03', '2023-3-5', '05.03.2023', '2023-03-05Z', '2023-03-05T13', '2023-03-05T13:47:31.1234', '1672531200000',
    '2023-02-30', '2023-02-29', '2023-04-31', '2023-00-10', '2023-13-01', '2023-01-00', '2023-01-32', '2023-01-99',
    '2023-01-01T24:00', '2023-01-01T12:60', '2023-01-01T12:00:60', '2023-01-01T12:00+24:00', '2023-01-01T12:00+08:60', '2023-01-01T12:00+99:99', '2023-01-01T12:00+08',
    '+002023-01-01', '2023-01-01T12:00 UTC', '2023-01-01\n2023-01-01',
  ])('is not read from %j', (text) => expect(parseEpoch(text)).toBeUndefined()); // prettier-ignore

  it.each([
    [undefined],
    [null],
    [true],
    [Number.NaN],
    [Infinity],
    [1.5],
    [8_640_000_000_000_001],
    [-8_640_000_000_000_001],
    [1n],
    [new Date(Number.NaN)],
    [{}],
    [[2023, 1, 1]],
    [{ getTime: (): number => 0 }],
  ])('is not read from %p', (given: unknown) => expect(parseEpoch(given)).toBeUndefined());
});

describe('a time unit', () => {
  it.each([
    [1, 'millisecond'],
    [2, 'second'],
    [3, 'minute'],
    [4, 'hour'],
    [5, 'day'],
  ])("is found by the original's number %d and by its name in any case", (number, name) => {
    for (const given of [number, name, name.toUpperCase(), name[0]!.toUpperCase() + name.slice(1)]) {
      expect(findTimeUnit(given)).toBe(name);
    }
  });

  it.each([
    [0],
    [6],
    [1.5],
    [-1],
    [Number.NaN],
    ['2'],
    ['seconds'],
    [''],
    ['__proto__'],
    ['toString'],
    [null],
    [2n],
    [{}],
  ])('is not found by %p', (given: unknown) => expect(findTimeUnit(given)).toBeUndefined());
});
