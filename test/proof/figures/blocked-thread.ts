import { RaindropError } from '@raindrop/core';
import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { openWorker } from './open-worker.js';

/** IDs that were issued after the deadline. */
export interface LateIds {
  /** At most in one block. */
  count: number;
  /** By how much, at most, the call that got one began after the deadline. */
  latestMs: number;
}

/** What a thread finds out that blocks its event loop again and again for twice the lease. */
export interface BlockedReport {
  /** Blocks in which IDs were asked for all the time. */
  readonly calling: LateIds;
  /** Blocks without a call between the first moment and the last. */
  readonly silent: LateIds;
  /** The turns after the blocks, all together. */
  readonly nextTurns: LateIds;
  /** Calls that failed otherwise than typed and retryable. */
  readonly improper: number;
}

/** What {@link BlockedReport} is asked of. */
export interface BlockedSetup {
  readonly options: SnowflakeModuleOptions;
  readonly leaseMs: number;
  readonly blocks: number;
}

const CALLS_AFTER = 2_000;

const none = (): LateIds => ({ count: 0, latestMs: 0 });

async function main(): Promise<void> {
  const { options, leaseMs, blocks } = workerData as BlockedSetup;
  const { worker, ids } = await openWorker(options);
  let improper = 0;
  const [calling, silent, nextTurns] = [none(), none(), none()] as const;
  /** Answers whether an ID was issued late. */
  const call = (deadlineMs: number, late: LateIds): boolean => {
    const beganMs = performance.now();
    try {
      ids.nextId();
    } catch (error) {
      if (!(error instanceof RaindropError && error.retryable)) improper++;
      return false;
    }
    late.latestMs = Math.max(late.latestMs, beganMs - deadlineMs);
    return beganMs > deadlineMs;
  };
  const deadline = (): number => performance.now() + worker.status().leaseLeftMs;

  for (let block = 0; block < blocks; block++) {
    await ids.nextIdAsync();
    await nextTurn();
    const deadlineMs = deadline();
    const overMs = performance.now() + 2 * leaseMs;
    const kind = block % 2 === 0 ? calling : silent;
    let late = 0;
    const tally = (isLate: boolean): void => void (late += Number(isLate));
    tally(call(deadlineMs, kind));
    while (performance.now() < overMs) if (kind === calling) tally(call(deadlineMs, kind));
    for (let calls = 0; calls < CALLS_AFTER; calls++) tally(call(deadlineMs, kind));
    kind.count = Math.max(kind.count, late);
    await nextTurn();
    for (let calls = 0; calls < CALLS_AFTER; calls++) {
      // By now the lease may have been given back, and acquired anew.
      if (call(deadline(), nextTurns)) nextTurns.count++;
    }
  }
  await worker.close();
  parentPort!.postMessage({ calling, silent, nextTurns, improper } satisfies BlockedReport);
}

void main();
