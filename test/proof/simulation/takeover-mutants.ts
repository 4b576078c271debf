import type { LeaseContext } from '../../../libs/core/src/lease/lease-context.js';
import { StoreWorkerKeeper } from '../../../libs/core/src/lease/store-worker-keeper.js';
import type { ResolvedLeaseOptions } from '../../../libs/core/src/lease/lease-options.js';
import { MemoryWorkerStore } from '../../../libs/core/src/lease/memory-worker-store.js';
import {
  INCLUDE_HELD,
  isForeign,
  type SampleRequest,
  type WorkerRow,
} from '../../../libs/core/src/lease/worker-store.js';
import { replace, type Mutant } from './mutant.js';

/** A process acquires a row with other options than its own; it holds the row with its own. */
function takesWith(change: Partial<ResolvedLeaseOptions>): () => void {
  interface Taking {
    ctx: LeaseContext;
    acquireLease(): Promise<unknown>;
  }
  return replace(StoreWorkerKeeper.prototype as unknown as Taking, 'acquireLease', (original) => {
    return function (this: Taking) {
      const { ctx } = this;
      this.ctx = { ...ctx, options: { ...ctx.options, ...change } };
      // It is read before the first wait, and again after the row was acquired.
      const taking = original.apply(this);
      this.ctx = ctx;
      return taking;
    };
  });
}

/** Readers see rows changed. */
function reads(change: (row: WorkerRow) => WorkerRow): () => void {
  const changed = <K extends 'readSample' | 'readTable'>(name: K): (() => void) =>
    replace(MemoryWorkerStore.prototype, name, (original) => {
      const read = async function (this: MemoryWorkerStore, ...args: Parameters<MemoryWorkerStore[K]>) {
        const call = original as (...given: typeof args) => Promise<{ readonly rows: readonly WorkerRow[] }>;
        const answer = await call.apply(this, args);
        return { ...answer, rows: answer.rows.map(change) };
      };
      return read as unknown as MemoryWorkerStore[K];
    });
  const mends = [changed('readSample'), changed('readTable')];
  return () => mends.forEach((mend) => mend());
}

/** Looks of some kind tell of no layout. */
export function hideLayouts(when: (request: SampleRequest) => boolean): () => void {
  return replace(MemoryWorkerStore.prototype, 'readSample', (original) => {
    return async function (this: MemoryWorkerStore, request: SampleRequest) {
      const sample = await original.call(this, request);
      return when(request) ? { ...sample, layouts: [], layoutsOfRows: [] } : sample;
    };
  });
}

/** Rules for a process that takes over a row. */
export const TAKEOVER_MUTANTS: Readonly<Record<string, Mutant>> = {
  'grace-ignored': {
    rule: 'A row stays with its holder for some time after its lease.',
    shownBy: 308,
    install: () => takesWith({ graceMs: 0 }),
  },
  'unclean-takeover-in-the-same-tick': {
    rule: 'If a commit can be lost, a row that was not released starts with the next tick.',
    shownBy: 2,
    install: () => takesWith({ commitLossWindowMs: 0 }),
  },
  'foreign-end-ignored': {
    rule: 'A program of the original may have issued for a minute after its last heartbeat.',
    shownBy: 132,
    install: () => reads((row) => (isForeign(row) ? { ...row, heartbeatMs: row.heartbeatMs - 60_000 } : row)),
  },
  'sample-ignores-layouts': {
    rule: 'A sample of rows is not enough if a layout could repeat our IDs.',
    shownBy: 8,
    install: () => hideLayouts(({ graceMs }) => graceMs !== INCLUDE_HELD),
  },
};
