import fc from 'fast-check';
import { difference, intersection, runsOf, sizeOf, union, type Interval, type Intervals } from './intervals.js';

const some = fc.array(
  fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 9 })).map(([first, more]): Interval => ({
    first,
    last: first + more,
  })),
  { maxLength: 12 },
);

const numbersOf = (intervals: Iterable<Interval>): Set<number> =>
  new Set([...intervals].flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, i) => first + i)));

/** What a set of numbers is as intervals, found one by one. */
const expected = (numbers: Iterable<number>): Intervals =>
  runsOf(BigInt64Array.from([...numbers].sort((a, b) => a - b).map(BigInt)));

describe('Intervals', () => {
  it('are joined, cut and subtracted as the sets of their numbers are', () => {
    fc.assert(
      fc.property(some, some, (one, other) => {
        const [a, b] = [numbersOf(one), numbersOf(other)];
        expect(union(one)).toEqual(expected(a));
        expect(intersection(union(one), union(other))).toEqual(expected([...a].filter((each) => b.has(each))));
        expect(difference(union(one), union(other))).toEqual(expected([...a].filter((each) => !b.has(each))));
        expect(sizeOf(union(one))).toBe(a.size);
      }),
    );
  });
});
