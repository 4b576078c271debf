import { findTimeUnit } from './timeline.js';

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
