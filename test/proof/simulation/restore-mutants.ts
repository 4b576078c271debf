import { ClockBehindError } from '@raindrop/core';
import type { MemoryWorkerTable } from '@raindrop/core/internal';
import { MemoryWorkerStore } from '../../../libs/core/src/lease/memory-worker-store.js';
import { replace, type Mutant } from './mutant.js';
import { SimulatedOperator } from './simulated-operator.js';

type Fence = MemoryWorkerStore['fence'];

/** The private parts of a store. */
interface Inside {
  readonly table: MemoryWorkerTable;
}

/** The store fences otherwise. */
const fences = (make: (original: Fence) => Fence & ThisType<MemoryWorkerStore>): (() => void) =>
  replace(MemoryWorkerStore.prototype, 'fence', make);

const tableOf = (store: MemoryWorkerStore): MemoryWorkerTable => (store as unknown as Inside).table;

/** Changes the record of a table after a fence. */
const leaves = (
  change: (
    after: MemoryWorkerTable['state'],
    before: MemoryWorkerTable['state'],
  ) => Partial<MemoryWorkerTable['state']>,
): (() => void) =>
  fences((original) => {
    return async function (this: MemoryWorkerStore, request) {
      const table = tableOf(this);
      const before = table.state;
      const rows = await original.call(this, request);
      table.state = { ...table.state, ...change(table.state, before) };
      return rows;
    };
  });

/** Rules for a table that was restored: of the store, and of the operator. */
export const RESTORE_MUTANTS: Readonly<Record<string, Mutant>> = {
  'restored-without-a-fence': {
    rule: 'A restored table is fenced before processes use it.',
    shownBy: 7,
    install: () => fences(() => () => Promise.resolve(0)),
  },
  'fence-leaves-tokens': {
    rule: 'A fence takes every row away from its holder.',
    shownBy: 7,
    install: () =>
      fences((original) => {
        return async function (this: MemoryWorkerStore, request) {
          const { rows } = tableOf(this);
          const before = new Map(rows);
          const count = await original.call(this, request);
          for (const [id, { odometers }] of rows) rows.set(id, { ...before.get(id)!, odometers });
          return count;
        };
      }),
  },
  'fence-forgets-rows-that-are-added': {
    rule: 'A fence also bars the rows that the backup lacked.',
    shownBy: 47,
    install: () => leaves(() => ({ fencedUntilMs: 0 })),
  },
  'fence-by-the-shorter-horizon': {
    rule: 'The longest horizon of all services is among the options of a fence.',
    shownBy: 347,
    install: () => replace(SimulatedOperator.prototype, 'servicesOf', () => () => ['usual']),
  },
  'shorter-fence-lowers-the-bar': {
    rule: 'A second fence that is shorter leaves the bar of the first.',
    shownBy: 107,
    install: () =>
      fences((original) => {
        return async function (this: MemoryWorkerStore, request) {
          const table = tableOf(this);
          const before = { rows: new Map(table.rows), state: table.state };
          table.state = { ...table.state, fencedUntilMs: 0 };
          const count = await original.call(this, request);
          const { fencedUntilMs = 0 } = table.state;
          if (fencedUntilMs >= (before.state.fencedUntilMs ?? 0)) return count;
          for (const [id, row] of table.rows) {
            const odometer = { ms: fencedUntilMs, sequence: Number.MAX_SAFE_INTEGER };
            table.rows.set(id, { ...row, odometers: [odometer, odometer] });
          }
          return count;
        };
      }),
  },
  'operator-clock-not-compared': {
    rule: 'A fence is refused where the store’s clock is not the operator’s.',
    shownBy: 7,
    install: () => replace(SimulatedOperator.prototype, 'compareClocks', () => () => undefined),
  },
  'clock-behind-the-store-not-seen': {
    rule: 'A fence is refused where the store has later times than its clock.',
    shownBy: 17,
    install: () =>
      fences((original) => {
        return async function (this: MemoryWorkerStore, request) {
          try {
            return await original.call(this, request);
          } catch (error) {
            if (!(error instanceof ClockBehindError)) throw error;
            return await original.call(this, { ...request, issuedUntilMs: 0 });
          }
        };
      }),
  },
  'loss-lowered-by-a-fence': {
    rule: 'A fence leaves the bar of a loss that was recorded by a clock that was ahead.',
    shownBy: 107,
    install: () =>
      fences((original) => {
        return function (this: MemoryWorkerStore, request) {
          const table = tableOf(this);
          const { state } = table;
          // As before fences judged clocks.
          const nowMs = (this as unknown as { now(): number }).now();
          table.state = { ...state, lostAtMs: Math.min(state.lostAtMs, nowMs) };
          return original.call(this, request);
        };
      }),
  },
  'issued-until-stated-too-early': {
    rule: 'An operator who states up to when IDs exist names the last of them.',
    shownBy: 107,
    install: () => replace(SimulatedOperator.prototype, 'issuedUntil', () => () => 0),
  },
  'layout-since-the-backup-not-named': {
    rule: 'The operator names every layout that has served since the backup.',
    shownBy: 87,
    install: () => replace(SimulatedOperator.prototype, 'named', () => (starting) => [starting]),
  },
  'one-layout-stated-although-another-served': {
    rule: 'The operator states that one layout has served only where no other one has.',
    shownBy: 87,
    install: () => replace(SimulatedOperator.prototype, 'hasServedAlone', () => () => true),
  },
};
