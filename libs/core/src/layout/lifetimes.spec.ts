import { Layout } from './layout.js';
import { createLayout, type LayoutOptions } from './layout-options.js';

const now = Date.UTC(2023, 5, 1);
const startTimeStamp = '2023-01-01T00:00:00Z';
const unitMs = { millisecond: 1, second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };
type Unit = keyof typeof unitMs;

/** Years of 365 days, truncated. */
const LIFETIMES: Record<Unit, Record<number, number>> = {
  millisecond: {
    41: 69.7, 42: 139, 43: 278, 44: 557, 45: 1115, 46: 2231, 47: 4462, 48: 8925, 49: 17851, 55: 1142465,
  },
  second: {
    31: 68, 32: 136, 33: 272, 34: 544, 35: 1089, 36: 2179, 37: 4358, 38: 8716, 39: 17432, 55: 1142465658,
  },
  minute: {
    25: 63, 26: 127, 27: 255, 28: 510, 29: 1021, 30: 2042, 31: 4085, 32: 8171, 33: 16343, 50: 2142123110,
  },
  hour: {
    19: 59, 20: 119, 21: 239, 22: 478, 23: 957, 24: 1915, 25: 3830, 26: 7660, 27: 15321, 45: 4016480832,
  },
  day: {
    15: 89, 16: 179, 17: 359, 18: 718, 19: 1436, 20: 2872, 21: 5745, 22: 11491, 23: 22982, 40: 3012360624,
  },
}; // prettier-ignore

const BITS: Record<Unit, readonly [number, number]> = {
  millisecond: [41, 55],
  second: [31, 55],
  minute: [25, 50],
  hour: [19, 45],
  day: [15, 40],
};

function layoutOf(options: Partial<LayoutOptions>): Layout {
  return createLayout({ startTimeStamp, timeStampLength: 41, workIdLength: 3, ...options }, now);
}

describe('the life of a layout', () => {
  const rows = Object.entries(LIFETIMES).flatMap(([timeUnit, years]) =>
    Object.entries(years).map(([bits, lasts]) => ({ timeUnit: timeUnit as Unit, bits: Number(bits), lasts })),
  );

  it.each(rows)('of $bits bits with a unit of one $timeUnit is $lasts years', ({ timeUnit, bits, lasts }) => {
    const { lifetimeYears } = layoutOf({ timeUnit, timeStampLength: bits });
    expect(lasts === 69.7 ? Math.floor(lifetimeYears * 10) / 10 : Math.floor(lifetimeYears)).toBe(lasts);
  });

  it.each(Object.keys(BITS) as Unit[])('ends with the last tick, or beyond all Dates: unit of one %s', (timeUnit) => {
    const unit = BigInt(unitMs[timeUnit]);
    for (let bits = BITS[timeUnit][0]; bits <= BITS[timeUnit][1]; bits++) {
      const layout = layoutOf({ timeUnit, timeStampLength: bits });
      const endMs = (BigInt(Date.parse(startTimeStamp)) / unit + (1n << BigInt(bits))) * unit;
      expect(layout.expiresAt?.getTime()).toBe(endMs <= 8_640_000_000_000_000n ? Number(endMs) : undefined);
      if (layout.expiresAt === null) expect(layout.timeline.startOf(layout.maxTick)).toBeLessThanOrEqual(8.64e15);
      else expect(layout.maxTick).toBe(2 ** bits - 1);
    }
  });

  it('reaches beyond every Date, and even beyond 2^53 ticks', () => {
    const layout = layoutOf({ timeUnit: 'millisecond', timeStampLength: 55 });
    expect(layout.expiresAt).toBeNull();
    expect(layout.safeUntil).not.toBeNull();
    expect(layout.maxTick).toBe(8_640_000_000_000_000 - Date.parse(startTimeStamp));
    // 2^30 safe ticks of a day are 2.9 million years.
    const days = layoutOf({ timeUnit: 'day', timeStampLength: 40 });
    expect([days.expiresAt, days.safeUntil]).toEqual([null, null]);
    expect(days.safeTicks).toBe(2 ** 30);
  });
});

describe('the IDs of a layout stay safe numbers', () => {
  it.each([
    { timeUnit: 'millisecond' as const, bits: 50, ticks: 2 ** 40, years: 34.8 },
    { timeUnit: 'second' as const, bits: 40, ticks: 2 ** 30, years: 34 },
  ])('for $years years with $bits bits of one $timeUnit', ({ timeUnit, bits, ticks, years }) => {
    const layout = layoutOf({ timeUnit, timeStampLength: bits, endBitsLength: 1, endBitsValue: 1 });
    expect(layout.safeTicks).toBe(ticks);
    expect(Math.floor(((ticks * unitMs[timeUnit]) / (365 * 86_400_000)) * 10) / 10).toBe(years);
    expect(layout.safeUntil).toEqual(new Date(Date.parse(startTimeStamp) + ticks * unitMs[timeUnit]));

    const last = { workerId: layout.maxWorkerId, clockBack: 1, sequence: layout.maxSequence };
    expect(layout.pack({ tick: ticks - 1, ...last })).toBe(2n ** 53n - 1n);
    expect(layout.pack({ tick: ticks, workerId: 0, clockBack: 0, sequence: 0 })).toBe(2n ** 53n + 1n);
  });

  it('from the first tick on to none at all', () => {
    expect(layoutOf({ timeUnit: 'day', timeStampLength: 15 }).safeTicks).toBe(32);
    const wide = new Layout({
      fields: [
        { name: 'time', role: 'time', bits: 9 },
        { name: 'worker', role: 'worker', bits: 27 },
        { name: 'sequence', role: 'sequence', bits: 27 },
      ],
      unitMs: 86_400_000,
      epochMs: 0,
    });
    expect([wide.safeTicks, wide.safeUntil]).toEqual([0, new Date(0)]);
  });

  it('for its whole life when all its bits are few', () => {
    const few = new Layout({
      fields: [
        { name: 'time', role: 'time', bits: 31 },
        { name: 'sequence', role: 'sequence', bits: 22 },
      ],
      unitMs: 1_000,
      epochMs: 0,
    });
    expect(few.safeUntil).toEqual(few.expiresAt);
  });
});

describe('the capacity of a layout', () => {
  it.each([
    [3, 7],
    [4, 15],
    [5, 31],
    [6, 63],
    [7, 127],
    [8, 255],
    [9, 511],
    [10, 1023],
  ])('with %d worker bits is %d workers', (workIdLength, workers) => {
    const layout = layoutOf({ workIdLength });
    expect([layout.maxWorkers, layout.maxWorkerId]).toEqual([workers, workers]);
  });

  it('is two to the power of the bits that are left, for every legal combination', () => {
    let combinations = 0;
    for (const timeUnit of Object.keys(BITS) as Unit[]) {
      for (let time = BITS[timeUnit][0]; time <= BITS[timeUnit][1]; time++) {
        for (let worker = 3; worker <= 10; worker++) {
          for (let end = 0; end <= 5 && time + worker + end < 62; end++) {
            const layout = layoutOf({ timeUnit, timeStampLength: time, workIdLength: worker, endBitsLength: end });
            const ids = 2 ** (62 - time - worker - end);
            if (layout.idsPerTick !== ids || layout.idsPerSecond !== (ids * 1_000) / unitMs[timeUnit]) {
              throw new Error(`${layout.fingerprint} holds ${layout.idsPerTick}, not ${ids}`);
            }
            combinations++;
          }
        }
      }
    }
    expect(combinations).toBeGreaterThan(5_000);
  });

  it.each([
    { timeUnit: 'millisecond' as const, bits: 41, worker: 10, end: 1, perTick: 1_024, perSecond: 1_024_000 },
    { timeUnit: 'second' as const, bits: 31, worker: 10, end: 1, perTick: 1_048_576, perSecond: 1_048_576 },
    {
      timeUnit: 'minute' as const,
      bits: 28,
      worker: 10,
      end: 0,
      perTick: 16_777_216,
      perSecond: 279_620.266_666_666_7,
    },
    { timeUnit: 'millisecond' as const, bits: 55, worker: 3, end: 3, perTick: 2, perSecond: 2_000 },
  ])('is $perTick a tick: $bits bits of one $timeUnit', ({ timeUnit, bits, worker, end, perTick, perSecond }) => {
    const layout = layoutOf({ timeUnit, timeStampLength: bits, workIdLength: worker, endBitsLength: end });
    expect(layout.idsPerTick).toBe(perTick);
    expect(layout.maxSequence).toBe(perTick - 1);
    expect(layout.idsPerSecond).toBeCloseTo(perSecond, 6);
  });
});
