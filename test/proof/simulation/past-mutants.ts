import type { WorkerWrite } from '@raindrop/core';
import type { PastContext } from '../../../libs/core/src/lease/past-ids.js';
import { replace, type Mutant } from './mutant.js';
import { SimulatedBackfill } from './simulated-backfill.js';
import type { WitnessedStore } from './witnessed-store.js';

type Reserve = SimulatedBackfill['reserve'];

/** Backfills reserve otherwise; services do not. */
const reserves = (make: (original: Reserve) => Reserve & ThisType<SimulatedBackfill>): (() => void) =>
  replace(SimulatedBackfill.prototype, 'reserve', make);

/** Backfills see, or write, otherwise. */
const over = (change: (store: WitnessedStore) => void): (() => void) =>
  reserves((original) => {
    return function (this: SimulatedBackfill, context) {
      change(this.process.store);
      return original.call(this, context);
    };
  });

/** Rules for who issues at times of the past. */
export const PAST_MUTANTS: Readonly<Record<string, Mutant>> = {
  'past-ignores-the-odometer': {
    rule: 'A backfill begins after the odometer of its row.',
    shownBy: 86,
    install: () =>
      reserves((original) => {
        return async function (this: SimulatedBackfill, context: PastContext) {
          const { past, resolved } = context;
          const reserved = await original.call(this, { ...context, past: { ...past, fromMs: past.toMs } });
          const next = { tick: resolved.layout.timeline.tickAt(past.fromMs), sequence: 0 };
          return Object.assign(reserved, { next, lastMs: past.fromMs });
        };
      }),
  },
  'past-given-back-unused': {
    rule: 'A backfill gives its row back with the odometer at the end of its stretch.',
    shownBy: 22,
    install: () =>
      over((store) => {
        const write = store.write.bind(store);
        store.write = (each) => write(each.token === '' ? { ...each, odometers: [UNUSED, UNUSED] } : each);
      }),
  },
  'past-believes-after-a-failover': {
    rule: 'After a failover a backfill believes no odometer below what can have been granted before.',
    shownBy: 254,
    install: () =>
      over((store) => {
        const [readTable, readSample] = [store.readTable.bind(store), store.readSample.bind(store)];
        const nothingLost = { barredUntilMs: 0, lostUntilMs: 0 };
        store.readTable = async () => ({ ...(await readTable()), ...nothingLost });
        store.readSample = async (request) => ({ ...(await readSample(request)), ...nothingLost });
      }),
  },
  'past-not-looked-at-again': {
    rule: 'Where a commit can be lost, a backfill issues once its reservation can be lost no more, and is still there.',
    shownBy: 70,
    install: () =>
      over((store) => {
        const [write, readRow] = [store.write.bind(store), store.readRow.bind(store)];
        let last: WorkerWrite | undefined;
        store.write = (each) => {
          if (each.token !== '') last = each;
          return write(each);
        };
        store.readRow = async (id) => {
          const { row, ...answer } = await readRow(id);
          if (row === undefined || last?.id !== id) return { row, ...answer };
          return { ...answer, row: { ...row, version: last.expected.version + 1, token: last.token } };
        };
      }),
  },
};

const UNUSED = { ms: 0, sequence: -1 };
