import { FiredIds } from './fired-ids.js';

const body = (...ids: readonly number[]): string => JSON.stringify({ ids: ids.map(String) });

describe('FiredIds', () => {
  it('sees an ID that came twice, in one answer or in two', () => {
    const ids = new FiredIds();
    ids.add(body(5, 3, 9));
    ids.add(body(1, 2));
    expect(ids.repeated()).toEqual([]);
    ids.add(body(9, 7, 7));
    expect(ids.repeated()).toEqual([7n, 9n]);
    expect(ids.count).toBe(8);
  });

  it('keeps more than fit at first', () => {
    const ids = new FiredIds();
    const many = Array.from({ length: 100_000 }, (_, index) => index);
    for (let round = 0; round < 12; round++) ids.add(body(...many.map((id) => id + round * 100_000)));
    expect(ids.count).toBe(1_200_000);
    expect(ids.repeated()).toEqual([]);
    ids.add(body(1_199_999));
    expect(ids.repeated()).toEqual([1_199_999n]);
  });
});
