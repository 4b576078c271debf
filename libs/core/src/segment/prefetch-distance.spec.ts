import { PrefetchDistance } from './segment-policy.js';
import { resolveOptions } from '../config/option-rules.js';
import { segmentOptions } from './segment-options.js';

const MINUTE = 60_000;

describe('The numbers to be kept at hand', () => {
  it('are a share of the step, whoever starves', () => {
    const distance = new PrefetchDistance(resolveOptions(segmentOptions, { prefetchBelow: 0.25 }));
    distance.landed(true, 1_000, 0);
    expect(distance.numbers(1_000)).toBe(250);
  });

  it('are whole segments in a chain, twice as many after each time that somebody starved', () => {
    const distance = new PrefetchDistance(resolveOptions(segmentOptions, { chain: { safeDistance: 3 } }));
    expect(distance.numbers(1_000)).toBe(3_000);
    distance.landed(true, 1_000, 0);
    expect(distance.numbers(1_000)).toBe(6_000);
    distance.landed(true, 1_000, 1);
    expect(distance.numbers(1_000)).toBe(12_000);
  });

  it('never go over the budget', () => {
    const distance = new PrefetchDistance(resolveOptions(segmentOptions, { chain: { maxBuffered: 5_000 } }));
    for (let times = 0; times < 100; times++) distance.landed(true, 1_000, times);
    expect(distance.numbers(1_000)).toBe(5_000);
    expect(distance.numbers(1)).toBeLessThanOrEqual(8);
  });

  it('get fewer when nobody has starved for a minute, and again after another', () => {
    const distance = new PrefetchDistance(resolveOptions(segmentOptions, { chain: true }));
    distance.landed(true, 1_000, 0);
    distance.landed(true, 1_000, 1);
    distance.landed(false, 1_000, MINUTE);
    expect(distance.numbers(1_000)).toBe(8_000);
    distance.landed(false, 1_000, MINUTE + 2);
    expect(distance.numbers(1_000)).toBe(4_000);
    distance.landed(false, 1_000, 2 * MINUTE);
    expect(distance.numbers(1_000)).toBe(4_000);
    distance.landed(false, 1_000, 2 * MINUTE + 3);
    distance.landed(false, 1_000, 9 * MINUTE);
    expect(distance.numbers(1_000)).toBe(2_000);
  });
});
