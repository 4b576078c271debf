import { setImmediate as turn } from 'node:timers/promises';
import { StreamPace } from './stream-pace.js';

describe('The pace of streams', () => {
  it('leaves others their part of a code, however many streams it has', () => {
    let now = 0;
    const pace = new StreamPace(100, () => now);
    const due = Array.from({ length: 8 }, () => pace.take('busy', 500));
    expect(due).toEqual([0, 5, 10, 15, 20, 25, 30, 35]);
    expect(pace.take('another', 500)).toBe(0);
    expect(pace.take(undefined, 500)).toBe(0);
    now = 35;
    expect(pace.take('busy', 500)).toBe(5);
  });

  it('makes up for a late timer, but not for a long rest', () => {
    let now = 0;
    const pace = new StreamPace(100, () => now);
    pace.take('code', 500);
    now = 15;
    expect([1, 2, 3].map(() => pace.take('code', 500))).toEqual([0, 0, 0]);
    expect(pace.take('code', 500)).toBe(5);
    now = 60_000;
    expect([1, 2, 3].map(() => pace.take('code', 500))).toEqual([0, 5, 10]);
  });

  it('lets one slice be made in a turn of the event loop, whatever their codes', async () => {
    const pace = new StreamPace(Infinity);
    let made = 0;
    for (let stream = 0; stream < 8; stream++) void pace.next(`code ${stream}`, 500).then(() => made++);
    const seen: number[] = [];
    while (made < 8) {
      const before = made;
      await turn();
      seen.push(made - before);
    }
    expect(Math.max(...seen)).toBe(1);
  });
});
