import type { KeeperBench } from './keeper-bench.js';

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
