import { parseEpoch } from './timeline.js';

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
