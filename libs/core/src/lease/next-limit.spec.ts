import { AFTER_ALL, BEFORE_ALL, type Position } from '../generator/tenure.js';
import { tinyLayout } from '../../../../test/support/engine/generator-bench.js';
import { isCoarse, renewThresholdOf, nextLimit, type LimitBasis } from './reservation.js';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const HORIZON = 65_000;

function basis(change: Partial<LimitBasis>): LimitBasis {
  const current = change.current ?? BEFORE_ALL;
  return { nowMs: 0, horizonMs: HORIZON, current, used: current, rate: 0, batch: 1, ...change };
}

/** Tick 100 of hours, of 2^14 sequences: a block is 16 of them. */
const hours = tinyLayout({ unitMs: HOUR, sequenceBits: 14 });
const BLOCK = 16;
const NOW = 100 * HOUR + 600_000;
const LATE = 101 * HOUR - HORIZON;
const at = (tick: number, sequence: number): Position => ({ tick, sequence });

describe('a grant of milliseconds or seconds', () => {
  it.each([
    { unitMs: 1, nowMs: 1_000_000, tick: 1_065_000 },
    { unitMs: SECOND, nowMs: 1_000_999, tick: 1_065 },
    { unitMs: SECOND, nowMs: 1_000_000, tick: 1_065 },
  ])('of $unitMs ms reaches to the end of the tick of the horizon', ({ unitMs, nowMs, tick }) => {
    const layout = tinyLayout({ unitMs });
    expect(isCoarse(layout)).toBe(false);
    expect(nextLimit(layout, basis({ nowMs }))).toEqual(at(tick, 3));
    expect(nextLimit(layout, basis({ nowMs, current: at(tick, 2) }))).toEqual(at(tick, 3));
  });

  it('is never lowered', () => {
    const current = at(2_000_000, 1);
    expect(nextLimit(tinyLayout(), basis({ nowMs: 1_000_000, current }))).toEqual(current);
  });

  it('ends where the layout ends, and nothing is asked for there', () => {
    const layout = tinyLayout({ timeBits: 41 });
    const basisAtEnd = basis({ nowMs: layout.maxTick - 1_000 });
    const limit = nextLimit(layout, basisAtEnd);
    expect(limit).toEqual(at(layout.maxTick, 3));
    expect(renewThresholdOf(layout, limit, basisAtEnd)).toEqual(AFTER_ALL);
  });

  it.each([
    { unitMs: 1, renewThreshold: 1_065_000 - 32_500 },
    { unitMs: SECOND, renewThreshold: 1_065 - 32 },
  ])('of $unitMs ms is asked for again half a horizon before its end', ({ unitMs, renewThreshold }) => {
    const layout = tinyLayout({ unitMs });
    const now = basis({ nowMs: 1_000_000 });
    expect(renewThresholdOf(layout, nextLimit(layout, now), now)).toEqual(at(renewThreshold, -1));
  });
});

describe('a grant of hours', () => {
  it.each<{ what: string; nowMs?: number; current?: Position; used?: Position; expected: Position }>([
    { what: 'begins with a block of this tick', expected: at(100, 15) },
    { what: 'begins with a block of this tick after an older one', current: at(98, 9_000), expected: at(100, 15) },
    { what: 'goes on a block further', current: at(100, 40), expected: at(100, 56) },
    {
      what: 'stays while more than half a block is left',
      current: at(100, 15),
      used: at(100, 6),
      expected: at(100, 15),
    },
    {
      what: 'goes no further than a block past what was used',
      current: at(100, 23),
      used: at(100, 15),
      expected: at(100, 31),
    },
    { what: 'goes on when half of it is used', current: at(100, 15), used: at(100, 7), expected: at(100, 23) },
    {
      what: 'counts what was used in an older tick for nothing',
      current: at(100, 15),
      used: at(99, 400),
      expected: at(100, 15),
    },
    { what: 'ends with the tick', current: at(100, 16_380), expected: at(100, 16_383) },
    { what: 'stays at the end of the tick', current: at(100, 16_383), expected: at(100, 16_383) },
    { what: 'stays below nothing that is granted', current: at(103, 7), expected: at(103, 7) },
    { what: 'reaches into the next tick that begins within the horizon', nowMs: LATE, expected: at(101, 15) },
    { what: 'reaches there from anywhere', nowMs: LATE, current: at(100, 16_383), expected: at(101, 15) },
    { what: 'does not grow there before its time', nowMs: LATE, current: at(101, 15), expected: at(101, 15) },
    { what: 'does not reach there a moment earlier', nowMs: LATE - 1, current: at(99, 4), expected: at(100, 15) },
  ])('$what', ({ nowMs = NOW, current = BEFORE_ALL, used = current, expected }) => {
    expect(nextLimit(hours, basis({ nowMs, current, used }))).toEqual(expected);
  });

  it('is asked for again when half of its block is used', () => {
    const now = basis({ nowMs: NOW });
    expect(renewThresholdOf(hours, at(100, 15), now)).toEqual(at(100, 15 - BLOCK / 2));
    expect(renewThresholdOf(hours, at(101, 15), now)).toEqual(at(101, 15 - BLOCK / 2));
  });

  it('is not asked for again when the rest of the tick is granted', () => {
    expect(renewThresholdOf(hours, at(100, 16_383), basis({ nowMs: NOW }))).toEqual(AFTER_ALL);
  });

  it('does not reach past the end of the layout', () => {
    const layout = tinyLayout({ unitMs: HOUR, sequenceBits: 14, timeBits: 19 });
    const nowMs = layout.maxTick * HOUR + HOUR - 1;
    expect(nextLimit(layout, basis({ nowMs })).tick).toBe(layout.maxTick);
  });

  it('asks again exactly where asking yields more, at every rate and use', () => {
    for (const rate of [0, 1e-4, 5e-4, 1e-3, 0.01]) {
      const limit = at(100, 600);
      for (let sequence = -1; sequence <= 600; sequence++) {
        const asked = basis({ nowMs: NOW, current: limit, used: at(100, sequence), rate });
        const renewThreshold = renewThresholdOf(hours, limit, asked);
        const yields = nextLimit(hours, asked).sequence > limit.sequence;
        expect({ rate, sequence, yields }).toEqual({ rate, sequence, yields: sequence >= renewThreshold.sequence });
      }
    }
  });
});

describe('the size of a block', () => {
  const sizeOf = (sequenceBits: number, rate: number, unitMs = HOUR): number => {
    const layout = tinyLayout({ unitMs, sequenceBits });
    return nextLimit(layout, basis({ nowMs: 100 * unitMs, rate })).sequence + 1;
  };

  it.each([
    { bits: 4, rate: 0, size: 1 },
    { bits: 10, rate: 0, size: 1 },
    { bits: 20, rate: 0, size: 1_024 },
    { bits: 20, rate: 0.001, size: 1_024 },
    { bits: 20, rate: 1, size: 130_000 },
    { bits: 20, rate: 1_000, size: 2 ** 20 },
    { bits: 28, rate: 1_000, size: 2 ** 20 },
    { bits: 30, rate: 0, size: 2 ** 20 },
    { bits: 34, rate: 0, size: 2 ** 24 },
    { bits: 34, rate: 1_000, size: 2 ** 24 },
  ])('with $bits sequence bits and $rate IDs per ms is $size', ({ bits, rate, size }) => {
    expect(sizeOf(bits, rate)).toBe(size);
  });

  it.each([HOUR, DAY])('does not depend on the unit (%d ms)', (unitMs) => {
    expect(sizeOf(20, 1, unitMs)).toBe(130_000);
  });

  it.each([
    { batch: 2, size: 4 },
    { batch: 100, size: 200 },
    { batch: 1_000, size: 1_024 },
  ])('holds two of the largest batch, of $batch', ({ batch, size }) => {
    const layout = tinyLayout({ unitMs: HOUR, sequenceBits: 10 });
    expect(nextLimit(layout, basis({ nowMs: NOW, batch })).sequence + 1).toBe(size);
  });

  it('follows the horizon: enough for twice its length', () => {
    const [horizonMs, nowMs] = [10_000, NOW];
    const layout = tinyLayout({ unitMs: HOUR, sequenceBits: 20 });
    expect(nextLimit(layout, basis({ nowMs, horizonMs, rate: 1 })).sequence + 1).toBe(20_000);
  });
});

describe('a grant of minutes', () => {
  const minutes = tinyLayout({ unitMs: MINUTE, sequenceBits: 14 });

  it('reaches at any moment into the minute in which the horizon ends', () => {
    for (let second = 0; second < 60; second++) {
      const nowMs = 100 * MINUTE + second * SECOND;
      expect(nextLimit(minutes, basis({ nowMs }))).toEqual(at(second < 55 ? 101 : 102, 15));
    }
  });

  it.each([
    { what: 'from the present', current: at(100, 15) },
    { what: 'from in between', current: at(103, 15) },
    { what: 'from there', current: at(105, 15) },
  ])('reaches there over as many as it takes, $what', ({ current }) => {
    const nowMs = 100 * MINUTE;
    expect(nextLimit(minutes, basis({ nowMs, horizonMs: 305 * SECOND, current }))).toEqual(at(105, 15));
  });

  it('is not lowered', () => {
    const current = at(107, 3);
    expect(nextLimit(minutes, basis({ nowMs: 100 * MINUTE, horizonMs: 305 * SECOND, current }))).toEqual(current);
  });
});
