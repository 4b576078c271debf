import { MAX_ID } from '@raindrop/core/internal';
import fc from 'fast-check';
import { decodeIds, encodeIds } from './cluster-messages.js';

const id = fc.bigInt({ min: 0n, max: MAX_ID });

describe('IDs on the wire', () => {
  it('come back as they were, whatever they are, through JSON', () => {
    fc.assert(
      fc.property(fc.array(id, { minLength: 1, maxLength: 50 }), (ids) => {
        expect(decodeIds(JSON.parse(JSON.stringify(encodeIds(ids))), ids.length)).toEqual(ids);
      }),
    );
  });

  it('come back as they were when they are ticks of equal steps, a run or two each', () => {
    const tick = fc.record({
      first: id,
      count: fc.integer({ min: 1, max: 40 }),
      step: fc.bigInt({ min: 1n, max: 64n }),
    });
    fc.assert(
      fc.property(fc.array(tick, { minLength: 1, maxLength: 10 }), (ticks) => {
        const ids = ticks.flatMap(({ first, count, step }) =>
          Array.from({ length: count }, (_, index) => first + BigInt(index) * step).filter((each) => each <= MAX_ID),
        );
        const runs = encodeIds(ids);
        expect(decodeIds(runs, ids.length)).toEqual(ids);
        expect(runs.length).toBeLessThanOrEqual(2 * ticks.length);
      }),
    );
  });

  it('are short: a thousand of a tick are one run', () => {
    expect(encodeIds(Array.from({ length: 1_000 }, (_, index) => 1_000_000n + BigInt(2 * index)))).toEqual([
      ['1000000', 1_000, '2'],
    ]);
  });

  it('are refused when there are more than were asked for', () => {
    expect(decodeIds([['1', 10, '1']], 9)).toBeUndefined();
    expect(
      decodeIds(
        [
          ['1', 5, '1'],
          ['9', 5, '1'],
        ],
        9,
      ),
    ).toBeUndefined();
    expect(decodeIds([['1', 2 ** 53 - 1, '1']], 10_000)).toBeUndefined();
  });

  it('never make more of rubbish than was asked for, nor IDs that are none', () => {
    const almost = fc.tuple(
      fc.oneof(fc.string(), id.map(String), fc.bigInt().map(String)),
      fc.oneof(fc.integer(), fc.double(), fc.string()),
      fc.oneof(fc.string(), id.map(String)),
    );
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.array(fc.oneof(almost, fc.anything()))), (rubbish) => {
        const ids = decodeIds(rubbish, 100) ?? [0n];
        expect(ids.length).toBeGreaterThan(0);
        expect(ids.length).toBeLessThanOrEqual(100);
        expect(ids.every((each) => each >= 0n && each <= MAX_ID)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['no list', {}],
    ['nothing', []],
    ['a number for an ID', [[1, 1, '1']]],
    ['a sign', [['-1', 1, '1']]],
    ['a leading zero', [['01', 1, '1']]],
    ['a step of nothing', [['1', 2, '0']]],
    ['no count', [['1', 0, '1']]],
    ['half a count', [['1', 1.5, '1']]],
    ['an end above 2^63 - 1', [[MAX_ID.toString(), 2, '1']]],
    ['one thing too many', [['1', 1, '1', 0]]],
  ])('are refused with %s', (_, runs) => {
    expect(decodeIds(runs, 100)).toBeUndefined();
  });
});
