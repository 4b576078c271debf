import { KeeperBench, type KeeperBenchOptions } from './keeper-bench.js';
import { WorkerDatabase } from './worker-database.js';

/**
 * A process and a copy of its memory. Until they part the copy does the same, by the same random choices, on a table of
 * its own; then it goes on with the table of the first. Both hold one token of one row and know nothing of each other.
 * @param begin what each of them does; both are awaited
 * @param ageMs how long they live before they part
 */
export async function twins(
  options: KeeperBenchOptions = {},
  ageMs = 0,
  begin: (bench: KeeperBench, isCopy: boolean) => Promise<void> = (bench) => bench.keeper.start(),
): Promise<[KeeperBench, KeeperBench]> {
  const database = new WorkerDatabase();
  const original = new KeeperBench({ seed: 7, ...options, database });
  const copy = new KeeperBench({ seed: 7, ...options, database: new WorkerDatabase(database.time) });
  await Promise.all([begin(original, false), begin(copy, true)]);
  await database.advance(ageMs);
  copy.store.attach(database.table);
  return [original, copy];
}
