import { ConfigurationError } from '../config/option-reader.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { collisionOdds } from './machine-process-id.js';

describe('the odds of a collision', () => {
  it.each([
    [365, 23, 0.507297],
    [1_024, 2, 1 / 1_024],
    [1_024, 10, 0.043124],
    [1_024, 38, 0.500956],
    [1_024, 100, 0.993253],
    [32, 7, 0.506285],
    [2 ** 22, 2_411, 0.499826],
  ])('are those of the birthday problem: %i ids, %i processes', (ids, processes, odds) => {
    expect(collisionOdds(ids, processes)).toBeCloseTo(odds, 4);
  });

  it.each([
    [1_024, 0, 0],
    [1_024, 1, 0],
    [1_024, 1_025, 1],
    [1_024, 1_000_000, 1],
    [1, 1, 0],
    [1, 2, 1],
  ])('are sure at the ends: %i ids, %i processes', (ids, processes, odds) => {
    expect(collisionOdds(ids, processes)).toBe(odds);
  });

  it('do not lose small ones to rounding', () => {
    expect(collisionOdds(2 ** 53 - 1, 2)).toBe(1 / (2 ** 53 - 1));
  });

  it.each([
    [0, 1],
    [1.5, 1],
    [Number.NaN, 1],
    [1_024, -1],
    [1_024, 1_000_001],
    [1_024, '2' as unknown as number],
  ])('of %p ids and %p processes are refused', (ids, processes) => {
    expect(() => collisionOdds(ids, processes)).toThrow(ConfigurationError);
  });

  it('are what happens when ids are drawn', () => {
    const { randomness } = new VirtualTime(0, 5);
    const draws = 4_000;
    let collided = 0;
    for (let draw = 0; draw < draws; draw++) {
      const drawn = Array.from({ length: 12 }, () => Math.floor(randomness.fraction() * 128));
      if (new Set(drawn).size < drawn.length) collided++;
    }
    expect(collided / draws).toBeCloseTo(collisionOdds(128, 12), 1);
  });
});
