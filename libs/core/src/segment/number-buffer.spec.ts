import fc from 'fast-check';
import { MAX_ID } from '../codec/id-codec.js';
import { bigintWriter } from '../generator/outputs.js';
import { NumberBuffer } from './number-buffer.js';
import type { Segment } from './segment-store.js';
import { range } from '../../../../test/support/engine/segment-bench.js';

function take(buffer: NumberBuffer, count: number): bigint[] {
  const batch: bigint[] = [];
  buffer.take(count).write({ batch, count, writer: bigintWriter }, 0, count);
  return batch;
}

describe('The buffer of segments', () => {
  it('hands out what was added, in order, singly and in runs', () => {
    const step = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 9 }), gap: fc.integer({ min: 0, max: 3 }) }),
      fc.record({ take: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ one: fc.constant(true) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const buffer = new NumberBuffer();
        const model: bigint[] = [];
        let highest = 0n;
        let issued = 0;
        for (const each of steps) {
          if ('add' in each) {
            const first = highest + BigInt(each.gap) + 1n;
            highest = first + BigInt(each.add) - 1n;
            buffer.add({ first, last: highest });
            model.push(...range(first, highest));
          } else if (buffer.left > 0) {
            const count = 'take' in each ? Math.min(each.take, buffer.left) : 1;
            buffer.turn();
            const taken = 'take' in each ? take(buffer, count) : [buffer.cursor.next()];
            expect(taken).toEqual(model.splice(0, count));
            issued += count;
          }
          expect(buffer.left).toBe(model.length);
          expect(buffer.cursor.issued).toBe(issued);
        }
      }),
    );
  });

  it.each([
    ['nothing', [], 0, undefined],
    ['the rest of the only segment', [[1n, 10n]], 4, { first: 5n, last: 10n }],
    ['all that hangs together', [[1n, 10n], [11n, 20n], [21n, 30n]], 4, { first: 5n, last: 30n }],
    ['only what follows a gap', [[1n, 10n], [12n, 20n], [21n, 30n]], 4, { first: 12n, last: 30n }],
    ['nothing of a segment that is used up', [[1n, 10n]], 10, undefined],
  ] as [string, [bigint, bigint][], number, Segment | undefined][])('has as its tail %s', (_, segments, taken, tail) => {
    const buffer = new NumberBuffer();
    for (const [first, last] of segments) buffer.add({ first, last });
    if (taken > 0) buffer.take(taken);
    expect(buffer.takeTail()).toEqual(tail);
    expect(buffer.left).toBe(0);
    expect(buffer.cursor.issued).toBe(taken);
  }); // prettier-ignore

  it('goes to the last number of all', () => {
    const buffer = new NumberBuffer();
    buffer.add({ first: MAX_ID - 1n, last: MAX_ID });
    expect([buffer.cursor.next(), buffer.cursor.next()]).toEqual([MAX_ID - 1n, MAX_ID]);
    expect(buffer.left).toBe(0);
  });

  it('says when another segment comes into use', () => {
    const began = jest.fn();
    const buffer = new NumberBuffer(began);
    buffer.add({ first: 1n, last: 2n });
    buffer.add({ first: 3n, last: 4n });
    expect(began).toHaveBeenCalledTimes(1);
    buffer.take(3);
    expect(began).toHaveBeenCalledTimes(2);
  });
});
