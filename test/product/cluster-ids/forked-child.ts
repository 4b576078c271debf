import type { RaindropError } from '@raindrop/core';
import { clusterPrimary } from '../../../libs/node/src/cluster/cluster-primary.js';

/** What a child did with the IDs of its parent. */
export interface ForkedReport {
  readonly ids: string[];
  /** What it was refused with in the end. */
  readonly refusal: string | undefined;
}

const [, , mode] = process.argv as [string, string, 'ends' | 'listens' | 'orphaned'];

/** A child that never closes its service: `ends`, `listens` to its parent, or goes on when its parent is gone. */
async function main(): Promise<void> {
  const { calls } = await clusterPrimary({ maxAgeMs: 60_000 }).open({});
  const ids = [await calls.nextIdAsync(), calls.nextId(), ...(await calls.nextIdsAsync(100))].map(String);
  let refusal: string | undefined;
  if (mode === 'listens') process.on('message', (text) => typeof text === 'string' && process.send!(text));
  if (mode === 'orphaned') {
    process.disconnect();
    try {
      for (;;) ids.push(await calls.nextStringAsync());
    } catch (error) {
      refusal = (error as RaindropError).errorCode;
    }
  }
  process.stdout.write(JSON.stringify({ ids, refusal } satisfies ForkedReport));
}

void main();
