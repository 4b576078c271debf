import { resolveLeaseOptions } from '@raindrop/core/internal';
import type { WorkerStore } from '@raindrop/core';
import { resolveLayout } from '../../../libs/core/src/layout/layout-options.js';
import { leasedIssuer, type LeasedIssuer } from '../../support/processes/leased-issuer.js';

/** What has become of keepers that started at one moment. */
export interface Crowd {
  /** The rows of those that have one. */
  readonly workerIds: readonly number[];
  /** Why the others have none. */
  readonly refusals: readonly unknown[];
  /** From the call of `start` to the last answer. */
  readonly tookMs: number;
  /** Every holder issues so many IDs, all of them in turn, so that they issue in the same milliseconds. */
  issue(each: number): bigint[];
  close(): Promise<void>;
}

/** Starts a keeper on every store at once, with the real clock and real timers. */
export async function startTogether(
  stores: readonly WorkerStore[],
  range: { readonly min: number; readonly max: number },
): Promise<Crowd> {
  const members = stores.map((store, index) => makeMember(store, index, range));
  const begin = performance.now();
  const outcomes = await Promise.allSettled(members.map(({ keeper }) => keeper.start()));
  const tookMs = performance.now() - begin;
  const holders = members.filter((_, index) => outcomes[index]!.status === 'fulfilled');
  return {
    workerIds: holders.map(({ keeper }) => keeper.workerId),
    refusals: outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : [])),
    tookMs,
    issue: (each) => {
      const ids: bigint[] = [];
      for (let turn = 0; turn < each; turn++) holders.forEach(({ generator }) => ids.push(generator.nextId()));
      return ids;
    },
    close: async () => {
      await Promise.all(members.map(({ keeper }) => keeper.close()));
    },
  };
}

function makeMember(store: WorkerStore, index: number, { min, max }: { min: number; max: number }): LeasedIssuer {
  const resolved = resolveLayout(
    {
      timeUnit: 'millisecond',
      startTimeStamp: '2024-01-01',
      timeStampLength: 41,
      workIdLength: 7,
      serviceMinWorkId: min,
      serviceMaxWorkId: max,
    },
    Date.now(),
  );
  // A write that a busy machine answers too late would leave a row behind that is held.
  const lease = resolveLeaseOptions({ opTimeoutMs: 20_000 });
  return leasedIssuer(store, { name: `acquirer ${index}`, resolved, lease });
}
