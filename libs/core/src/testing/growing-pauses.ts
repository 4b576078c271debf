import type { VirtualTime } from './virtual-time.js';

/**
 * Expects 3 s of attempts that fail to have pauses between them that double from 100 to 400 ms, and are random.
 * @param attempts tells how many there were
 */
export async function expectGrowingPauses(time: VirtualTime, attempts: () => number): Promise<void> {
  const at: number[] = [];
  for (let ms = 0; ms < 3_000; ms += 5) {
    while (at.length < attempts() - 1) at.push(ms);
    await time.advance(5);
  }
  const pauses = at.slice(1).map((ms, index) => ms - at[index]!);
  [100, 200, 400, 400, 400].forEach((longest, index) => {
    expect(pauses[index]).toBeGreaterThanOrEqual(longest / 2 - 5);
    expect(pauses[index]).toBeLessThanOrEqual(longest + 5);
  });
  expect(new Set(pauses.slice(2)).size).toBeGreaterThan(1);
}
