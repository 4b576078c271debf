import { describeWorkerStore } from '../../../../test/proof/contract/worker-store.contract.js';
import { LeaseWatch, unusedRow, type WorkerRow } from './worker-store.js';
import { MemoryWorkerStore, MemoryWorkerTable } from './memory-worker-store.js';

const LEASE_MS = 60_000;

/** A row with a lease that was written at `atMs` of its holder's clock. */
function held(version: number, atMs: number): WorkerRow {
  return { ...unusedRow(1), version, token: 'a1', heartbeatMs: atMs, leaseUntilMs: atMs + LEASE_MS };
}

describe('A watch of leases', () => {
  let steady = 5;
  let watch: LeaseWatch;
  const leftMs = (row: WorkerRow, nowMs: number): number => watch.look(row, nowMs).leaseUntilMs - nowMs;

  beforeEach(() => {
    steady = 5;
    watch = new LeaseWatch({ now: () => steady });
  });

  it.each([0, 3_600_000, -3_600_000])(
    'gives a row the time it has not changed, by a clock that is %d ms ahead',
    (by) => {
      const row = held(7, 1_000_000 + by);
      expect(leftMs(row, 1_000_000)).toBe(LEASE_MS);
      steady += LEASE_MS - 1;
      expect(leftMs(row, 1_000_000 + by)).toBe(1);
      steady += 1;
      expect(leftMs(row, 1_000_000)).toBe(0);
      // A holder that lives writes.
      expect(leftMs(held(8, 1_000_000 + by), 1_000_000)).toBe(LEASE_MS);
    },
  );

  it('leaves a row alone that no process holds', () => {
    const row = { ...held(7, 0), token: '' };
    expect(watch.look(row, 1_000_000)).toBe(row);
  });

  it('counts a lease of its own from the write, and ends it when the wall clock is past it: the process has slept', () => {
    const row = held(7, 1_000_000);
    watch.wrote(row);
    steady += 10_000;
    expect(leftMs(row, 1_010_000)).toBe(LEASE_MS - 10_000);
    expect(leftMs(row, 4_600_000)).toBeLessThan(0);
    // A clock that was set back does not make it longer.
    expect(leftMs(row, 500_000)).toBe(LEASE_MS - 10_000);
  });
});

describeWorkerStore('memory', () => {
  const table = new MemoryWorkerTable();
  // One process has one clock.
  const { now } = Date;
  return Promise.resolve({
    open: () => new MemoryWorkerStore(table, now),
    foreignWrite: (id) => {
      const row = table.rows.get(id)!;
      table.rows.set(id, { ...row, version: row.version + 1 });
      return Promise.resolve();
    },
    markDeleted: (id) => {
      table.deleted.set(id, table.rows.get(id)!);
      table.rows.delete(id);
      return Promise.resolve();
    },
    dispose: () => Promise.resolve(),
  });
});
