import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { KeeperBench } from './keeper-bench.js';
import type { VirtualTime } from './virtual-time.js';

/** All IDs of all these processes, and how many of them are there twice. */
export function repeats(...benches: KeeperBench[]): number {
  const all = benches.flatMap((bench) => bench.issued);
  return all.length - new Set(all).size;
}

/** Every process issues, when it may, for so long. */
export async function live(forMs: number, ...benches: KeeperBench[]): Promise<void> {
  for (let passed = 0; passed < forMs; passed += 100) {
    benches.forEach((bench) => bench.refusal());
    await benches[0]!.advance(100);
  }
}

/** Collects all garbage now, in a process that was not started with `--expose-gc`. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

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
