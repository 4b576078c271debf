import { LogRepeats } from './log-repeats.js';

describe('LogRepeats', () => {
  it('lets one entry of a kind through in ten seconds, with how many went unsaid', () => {
    let now = 0;
    const repeats = new LogRepeats(() => now);
    const admitted = (kind: string, atMs: number): number | undefined => {
      now = atMs;
      return repeats.admit(kind);
    };
    expect(admitted('a', 0)).toBe(0);
    expect(admitted('a', 1)).toBeUndefined();
    expect(admitted('b', 2)).toBe(0);
    expect(admitted('a', 9_999)).toBeUndefined();
    expect(admitted('a', 10_000)).toBe(2);
    expect(admitted('a', 19_999)).toBeUndefined();
    expect(admitted('a', 40_000)).toBe(1);
    expect(admitted('b', 40_000)).toBe(0);
  });
});
