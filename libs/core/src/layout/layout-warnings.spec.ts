import { resolveLayout, type LayoutOptions } from './layout-options.js';

const now = Date.UTC(2023, 5, 1);
/** Nothing to warn about. */
const fine: LayoutOptions = { startTimeStamp: '2023-01-01', timeStampLength: 40, workIdLength: 8, endBitsLength: 1 };

function warningsOf(changes: Partial<LayoutOptions>, at = now): readonly { code: string; message: string }[] {
  return resolveLayout({ ...fine, ...changes }, at).warnings;
}

describe('a layout warning', () => {
  it('is not given for a careful choice', () => expect(warningsOf({})).toEqual([]));

  const year = 365 * 86_400_000;
  const epoch = Date.parse('2023-01-01');
  it.each([
    {
      code: 'LEAP_SECONDS',
      given: { timeUnit: 1 as const, timeStampLength: 50, workIdLength: 5 },
      not: { timeUnit: 2 as const },
      says: 'leap second',
    },
    {
      code: 'COARSE_UNIT',
      given: { timeUnit: 'hour' as const, timeStampLength: 24 },
      not: { timeUnit: 'minute' as const },
      says: 'one hour',
    },
    {
      code: 'COARSE_UNIT',
      given: { timeUnit: 'day' as const, timeStampLength: 20 },
      not: { timeUnit: 'minute' as const },
      says: 'one day',
    },
    { code: 'CAPACITY', given: { expectedIdsPerSecond: 8_193 }, not: { expectedIdsPerSecond: 8_192 }, says: '8192' },
    {
      code: 'CAPACITY',
      given: { timeUnit: 3 as const, expectedIdsPerSecond: 137 },
      not: { timeUnit: 3 as const, expectedIdsPerSecond: 136 },
      says: '137 IDs per second',
    },
    {
      code: 'NO_END_BITS',
      given: { endBitsLength: 0 },
      not: { endBitsLength: 5, endBitsValue: 31 },
      says: 'endBitsLength 1',
    },
    {
      code: 'OLD_EPOCH',
      given: { startTimeStamp: now - 5 * year - 1 },
      not: { startTimeStamp: now - 5 * year },
      says: '5 years back',
    },
    {
      code: 'FEW_WORKERS',
      given: { expectedNodes: 128 },
      not: { expectedNodes: 127 },
      says: '255 worker ids for 128 nodes',
    },
    {
      code: 'FEW_WORKERS',
      given: { expectedNodes: 2, serviceMinWorkId: 0, serviceMaxWorkId: 2 },
      not: { expectedNodes: 2, serviceMinWorkId: 0, serviceMaxWorkId: 3 },
      says: '3 worker ids for 2 nodes',
    },
  ])('$code is given for $given and not for $not', ({ code, given, not, says }) => {
    const warnings = warningsOf(given);
    expect(warnings.map((each) => each.code)).toContain(code);
    expect(warnings.find((each) => each.code === code)?.message).toContain(says);
    expect(warningsOf(not).map((each) => each.code)).not.toContain(code);
  });

  it('EXPIRES_SOON is given in the last year', () => {
    const options = { timeUnit: 'day' as const, timeStampLength: 15, minLifetimeDays: 0 };
    const end = epoch + 2 ** 15 * 86_400_000;
    const soon = (at: number): boolean => warningsOf(options, at).some(({ code }) => code === 'EXPIRES_SOON');
    expect([soon(end - year), soon(end - year + 1)]).toEqual([false, true]);
    expect(warningsOf(options, end - 1).find(({ code }) => code === 'EXPIRES_SOON')?.message).toContain('2112-09-');
  });

  it('comes with others when several things are rarely wanted', () => {
    const codes = warningsOf({
      timeUnit: 'hour',
      timeStampLength: 19,
      endBitsLength: 0,
      startTimeStamp: '1964-01-01',
      expectedNodes: 200,
      expectedIdsPerSecond: 1e12,
      minLifetimeDays: 30,
    }).map(({ code }) => code);
    expect(codes).toEqual(['COARSE_UNIT', 'CAPACITY', 'NO_END_BITS', 'OLD_EPOCH', 'FEW_WORKERS', 'EXPIRES_SOON']);
  });
});
