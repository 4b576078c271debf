import fc from 'fast-check';
import { caught } from '../../../../test/support/engine/caught.js';
import { ConfigurationError } from '../config/option-reader.js';
import { presets } from '../presets/presets.js';
import { TIME_UNITS, type TimeUnit } from '../time/timeline.js';
import { createLayout, type LayoutOptions } from './layout-options.js';
import { planLayout } from './layout-advice.js';

const now = Date.UTC(2026, 0, 1);

describe('a layout plan', () => {
  it('is judged by the present, as a layout is, where no other moment is given', () => {
    const day = 86_400_000;
    const from = (startTimeStamp: number): LayoutOptions => ({
      ...{ startTimeStamp, timeStampLength: 33, workIdLength: 10, minLifetimeDays: 0 },
    });
    for (const make of [createLayout, planLayout]) {
      expect(make(from(Date.now() - day))).toEqual(expect.objectContaining({ unitMs: 1_000 }));
      expect(() => make(from(Date.now() + day))).toThrow(ConfigurationError);
    }
  });

  it('says in plain values what a layout comes to', () => {
    const options: LayoutOptions = {
      ...{ timeUnit: 'millisecond', startTimeStamp: '2024-01-01', timeStampLength: 41, workIdLength: 10 },
      ...{ serviceMinWorkId: 1, serviceMaxWorkId: 512, endBitsLength: 1, endBitsValue: 1 },
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
