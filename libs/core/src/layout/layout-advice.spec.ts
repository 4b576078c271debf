import fc from 'fast-check';
import { caught } from '../../../../test/support/engine/caught.js';
import { ConfigurationError } from '../config/option-reader.js';
import { presets } from '../presets/presets.js';
import { TIME_UNITS, type TimeUnit } from '../time/timeline.js';
import { adviseLayout, type LayoutNeeds, planLayout } from './layout-advice.js';
import { createLayout, type LayoutOptions, resolveLayout } from './layout-options.js';

const nowMs = Date.parse('2026-11-22T12:00:00Z');

const advise = (needs: LayoutNeeds) => adviseLayout(needs, nowMs);

const usual = { processes: 50, idsPerSecond: 2_000, years: 30 };

describe('The advice', () => {
  it('begins with the default shape where it meets all needs', () => {
    const advice = advise(usual);
    expect(advice.map(({ name }) => name)).toEqual(['default', 'fitted', 'milliseconds']);
    expect(advice[0]!.options).toMatchObject({ timeUnit: 'second', timeStampLength: 33, workIdLength: 10 });
    expect(advice.flatMap(({ misses }) => misses)).toEqual([]);
    for (const { reasons } of advice) expect(reasons.length).toBeGreaterThan(0);
  });

  it('for exact numbers begins with the shape for numbers, and each is exact all the years', () => {
    const advice = advise({ ...usual, numbers: true });
    expect(advice.map(({ name }) => name)).toEqual(['number', 'fitted', 'milliseconds']);
    for (const { plan, misses } of advice) {
      expect(misses).toEqual([]);
      expect(Date.parse(plan.safeUntil!)).toBeGreaterThan(Date.parse('2056-11-22'));
    }
  });

  it('cuts the bits to the needs where no usual shape meets them', () => {
    const [first] = advise({ processes: 400, idsPerSecond: 300, years: 60, numbers: true });
    expect(first!.name).toBe('fitted');
    expect(first!.misses).toEqual([]);
    expect(first!.plan.workers.count).toBeGreaterThanOrEqual(400);
  });

  it('says what the nearest ones miss where nothing meets all needs', () => {
    const advice = advise({ processes: 1_000, idsPerSecond: 1_000_000, years: 200, numbers: true });
    expect(advice.length).toBeGreaterThanOrEqual(2);
    for (const { misses } of advice) expect(misses.length).toBeGreaterThan(0);
    expect(advice.some(({ misses }) => misses.join(' ').includes('keep them as strings'))).toBe(true);
  });

  it('is the same whichever moment of a year', () => {
    const names = (at: string) => adviseLayout(usual, Date.parse(at)).map(({ options }) => options);
    expect(names('2026-01-01')).toEqual(names('2026-12-31T23:59:59.999Z'));
  });

  it('is never a layout that does not hold what it says', () => {
    const needs = fc.record({
      processes: fc.integer({ min: 1, max: 1_023 }),
      idsPerSecond: fc.integer({ min: 1, max: 1_000_000_000 }),
      years: fc.integer({ min: 1, max: 1_000 }),
      numbers: fc.boolean(),
    });
    fc.assert(
      fc.property(needs, (each) => {
        const advice = advise(each);
        expect(advice.length).toBeGreaterThanOrEqual(2);
        expect(advice.length).toBeLessThanOrEqual(3);
        for (const { options, misses } of advice) {
          const layout = createLayout({ ...options, minLifetimeDays: 0 }, nowMs);
          if (misses.length > 0) continue;
          const last = Date.UTC(2026 + each.years, 10, 22);
          expect(layout.idsPerSecond).toBeGreaterThanOrEqual(each.idsPerSecond);
          expect(layout.maxWorkers).toBeGreaterThanOrEqual(each.processes);
          expect(layout.expiresAt?.getTime() ?? Infinity).toBeGreaterThan(last);
          if (each.numbers) expect(layout.idCeil(last)).toBeLessThan(2n ** 53n);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('names every need that is out of range', () => {
    const wrong = { processes: 0, idsPerSecond: 1.5, years: 1_001, number: true } as unknown as LayoutNeeds;
    const { problems } = caught(ConfigurationError, () => advise(wrong));
    expect(problems.map(({ option }) => option)).toEqual(['processes', 'idsPerSecond', 'years', 'number']);
  });
});

const now = Date.UTC(2026, 0, 1);

describe('a layout plan', () => {
  it('is judged by the present, as a layout is, where no other moment is given', () => {
    const day = 86_400_000;
    const from = (startTimeStamp: number): LayoutOptions => ({
      startTimeStamp,
      timeStampLength: 33,
      workIdLength: 10,
      minLifetimeDays: 0,
    });
    for (const make of [createLayout, planLayout]) {
      expect(make(from(Date.now() - day))).toEqual(expect.objectContaining({ unitMs: 1_000 }));
      expect(() => make(from(Date.now() + day))).toThrow(ConfigurationError);
    }
  });

  it('says in plain values what a layout comes to', () => {
    const options: LayoutOptions = {
      timeUnit: 'millisecond',
      startTimeStamp: '2024-01-01',
      timeStampLength: 41,
      workIdLength: 10,
      serviceMinWorkId: 1,
      serviceMaxWorkId: 512,
      endBitsLength: 1,
      endBitsValue: 1,
    };
    expect(planLayout(options, now)).toEqual({
      fields: [
        { name: 'timestamp', role: 'time', bits: 41, shift: 22, value: null },
        { name: 'worker', role: 'worker', bits: 10, shift: 12, value: null },
        { name: 'clockBack', role: 'clockBack', bits: 1, shift: 11, value: null },
        { name: 'sequence', role: 'sequence', bits: 10, shift: 1, value: null },
        { name: 'end', role: 'fixed', bits: 1, shift: 0, value: 1 },
      ],
      bits: 63,
      fingerprint: '1@1704067200000:t41.w10.b1.s10.e1=1',
      timeUnit: 'millisecond',
      unitMs: 1,
      epoch: '2024-01-01T00:00:00.000Z',
      lifetimeYears: 2 ** 41 / (365 * 86_400_000),
      expiresAt: '2093-09-06T15:47:35.552Z',
      safeUntil: '2024-01-25T20:31:23.648Z',
      idsPerTick: 1_024,
      idsPerSecond: 1_024_000,
      workers: { min: 1, max: 512, count: 512 },
      warnings: [expect.objectContaining({ code: 'LEAP_SECONDS' })],
    });
  });

  it('is null where a Date ends, where a unit has no name, and gives a fixed field without a value 0', () => {
    const long = planLayout({ startTimeStamp: '2024-01-01', timeStampLength: 55, workIdLength: 3 }, now);
    expect([long.expiresAt, long.timeUnit]).toEqual([null, 'second']);

    const sony = planLayout({ layout: presets.sonyflake(), serviceMinWorkId: 0, serviceMaxWorkId: 9 }, now);
    expect([sony.timeUnit, sony.unitMs, sony.bits, sony.workers.count]).toEqual([null, 10, 63, 10]);
  });

  it('plans a ready layout, also one that has ended, and no bits beside it', () => {
    const layout = createLayout({ startTimeStamp: '2024-01-01', timeStampLength: 33, workIdLength: 10 }, now);
    const late = planLayout({ layout, serviceMaxWorkId: 9 }, Date.UTC(2400, 0, 1));
    expect(late).toMatchObject({ fingerprint: layout.fingerprint, workers: { min: 1, max: 9, count: 9 } });
    expect(late.warnings.map(({ code }) => code)).toContain('EXPIRES_SOON');
    for (const wrong of [{ layout, workIdLength: 10 }, { layout: 'mine' }]) {
      expect(() => planLayout(wrong as unknown as LayoutOptions, now)).toThrow(ConfigurationError);
    }
  });

  it('reports every wrong option at once', () => {
    const wrong = { timeUnit: 6, startTimeStamp: 'soon', timeStampLength: 99, workIdLength: 2 } as unknown;
    const { problems } = caught(ConfigurationError, () => planLayout(wrong as LayoutOptions, now));
    expect(problems.map(({ option }) => option)).toEqual([
      'timeUnit',
      'startTimeStamp',
      'timeStampLength',
      'workIdLength',
    ]);
  });

  it('survives JSON, fills the bits without a gap, and describes the layout that the same options make', () => {
    const units = Object.keys(TIME_UNITS) as TimeUnit[];
    const anyOptions = fc.constantFrom(...units).chain((timeUnit) =>
      fc.record({
        timeUnit: fc.constant(timeUnit),
        startTimeStamp: fc.constantFrom('2020-02-29T12:34:56.789Z', '2025-12-31'),
        timeStampLength: fc.integer({
          min: TIME_UNITS[timeUnit].minTimestampBits,
          max: Math.min(TIME_UNITS[timeUnit].maxTimestampBits, 63 - 10 - 1 - 5 - 1),
        }),
        workIdLength: fc.integer({ min: 3, max: 10 }),
        endBitsLength: fc.integer({ min: 0, max: 5 }),
      }),
    );
    fc.assert(
      fc.property(anyOptions, (options) => {
        const plan = planLayout(options, now);
        expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
        const ends = plan.fields.map(({ bits, shift }) => bits + shift);
        expect(ends).toEqual([plan.bits, ...plan.fields.slice(0, -1).map(({ shift }) => shift)]);
        expect(plan.fields.at(-1)!.shift).toBe(0);
        expect(plan.fingerprint).toBe(createLayout(options, now).fingerprint);
      }),
    );
  });
});

/** Nothing to warn about. */
const fine: LayoutOptions = { startTimeStamp: '2023-01-01', timeStampLength: 40, workIdLength: 8, endBitsLength: 1 };

describe('a layout warning', () => {
  const now = Date.UTC(2023, 5, 1);

  function warningsOf(changes: Partial<LayoutOptions>, at = now): readonly { code: string; message: string }[] {
    return resolveLayout({ ...fine, ...changes }, at).warnings;
  }

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
      says: '5 years ago',
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
