import { SegmentGenerator, ShardedGenerator } from '@raindrop/core/internal';
import type { SegmentPorts } from '@raindrop/core';
import type { SqlDatabase } from '../database/sql-database.js';
import { openSegmentStores, type SegmentStores } from './open-segment-stores.js';
import { SegmentEngine } from './segment-engine.js';
import type { ResolvedSegmentModuleOptions } from '../options/segment-mode-options.js';

/**
 * Tables, apps and the first numbers of every code that was named.
 * @param warn what of the database's settings can lose numbers that were reserved, and what is wrong with the buffer
 * @throws what keeps numbers from coming; everything that was opened is closed then
 */
export async function openSegmentEngine(
  options: ResolvedSegmentModuleOptions,
  ofApplication: SqlDatabase | undefined,
  ports: SegmentPorts,
  warn: (message: string) => void,
): Promise<SegmentEngine> {
  const stores = await openSegmentStores(options, ofApplication, ports, warn);
  const calls = new SegmentGenerator(stores.codes, ports, options.segments);
  const sharded = stores.apps && new ShardedGenerator(stores.apps, ports, options.segments);
  const engine = new SegmentEngine(calls, sharded, options.codes);
  try {
    await calls.start(options.codes);
    await sharded?.start();
    for (const { id, name, description } of options.sharded?.apps ?? []) {
      await sharded?.registerApp(id, name, description);
    }
    await warnOfSettings(stores, warn);
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** A database that does not say how it is set is none that cannot be used. */
async function warnOfSettings({ codes }: SegmentStores, warn: (message: string) => void): Promise<void> {
  const warnings = await codes.durabilityWarnings().catch(() => []);
  for (const message of warnings) warn(message);
}
