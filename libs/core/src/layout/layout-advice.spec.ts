import fc from 'fast-check';
import { caught } from '../../../../test/support/engine/caught.js';
import { ConfigurationError } from '../config/option-reader.js';
import { adviseLayout, type LayoutNeeds } from './layout-advice.js';
import { createLayout } from './layout-options.js';

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
    expect(advice.some(({ misses }) => misses.join(' ').includes('keep them as text'))).toBe(true);
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
