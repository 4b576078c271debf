import type { WorkerRange } from '../layout/layout-usage.js';
import { isHeld } from './liveness.js';
import { isForeign } from './row-selection.js';
import {
  FENCE_LEAP,
  type Odometer,
  type SampleRequest,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
} from './worker-store.js';

const UNUSED: Odometer = { ms: 0, sequence: -1 };

/** Holds the table that several {@link MemoryWorkerStore} share. */
export class MemoryWorkerTable {
  readonly rows = new Map<number, WorkerRow>();
  /** Rows that were marked deleted. */
  readonly deleted = new Map<number, WorkerRow>();
  readonly layouts = new Set<string>();
}

/**
 * Keeps worker rows in this process's memory: for databases that live in memory themselves, and for tests.
 *
 * It promises uniqueness inside this process and as long as it lives, nothing more.
 */
export class MemoryWorkerStore implements WorkerStore {
  constructor(
    private readonly table: MemoryWorkerTable,
    private readonly now: () => number,
  ) {}

  prepare({ min, max }: WorkerRange): Promise<void> {
    for (let id = min; id <= max; id++) {
      if (this.table.rows.has(id) || this.table.deleted.has(id)) continue;
      this.table.rows.set(id, {
        id,
        version: 0,
        ownVersion: 0,
        token: '',
        holder: '',
        layout: '',
        leaseUntilMs: 0,
        lane: 0,
        odometers: [UNUSED, UNUSED],
        code: '',
        heartbeatMs: 0,
      });
    }
    return Promise.resolve();
  }

  readTable(): Promise<WorkerTable> {
    return Promise.resolve({
      nowMs: this.now(),
      rows: [...this.table.rows.values()],
      deleted: [...this.table.deleted.values()],
      layouts: [...this.table.layouts],
    });
  }

  readSample({ workers, from, atMost, graceMs }: SampleRequest): Promise<WorkerSample> {
    const nowMs = this.now();
    const rows = [...this.table.rows.values()].filter(({ id }) => id >= workers.min && id <= workers.max);
    const expired = rows.filter((row) => !isHeld(row, nowMs, graceMs));
    const freeSince = ({ token, leaseUntilMs }: WorkerRow): number => (token === '' ? 0 : leaseUntilMs);
    const turn = ({ id }: WorkerRow): number => (id < from ? 1 : 0);
    const free = expired
      .filter((row) => !isForeign(row))
      .sort((a, b) => freeSince(a) - freeSince(b) || turn(a) - turn(b) || a.id - b.id);
    return Promise.resolve({
      nowMs,
      rows: free.slice(0, atMost),
      total: rows.length,
      live: rows.length - expired.length,
      foreign: [...this.table.rows.values()].filter(isForeign).length,
      layouts: [...this.table.layouts],
      layoutsOfRows: this.layoutsOfRows,
    });
  }

  readRow(id: number): Promise<{ nowMs: number; row: WorkerRow | undefined }> {
    return Promise.resolve({ nowMs: this.now(), row: this.table.rows.get(id) });
  }

  write({ id, expected, token, holder, layout, lane, odometers, code, leaseMs }: WorkerWrite): Promise<boolean> {
    const row = this.table.rows.get(id);
    if (row === undefined || row.version !== expected.version || row.token !== expected.token) {
      return Promise.resolve(false);
    }
    const version = expected.version + 1;
    const now = this.now();
    const change = { token, holder, layout, lane, odometers, code, leaseUntilMs: now + leaseMs, heartbeatMs: now };
    this.table.rows.set(id, { id, version, ownVersion: version, ...change });
    return Promise.resolve(true);
  }

  rememberLayout(fingerprint: string): Promise<void> {
    this.table.layouts.add(fingerprint);
    return Promise.resolve();
  }

  fence(aheadMs: number): Promise<number> {
    const nowMs = this.now();
    const raised = ({ ms }: Odometer): Odometer => ({
      ms: Math.max(ms, nowMs + aheadMs),
      sequence: Number.MAX_SAFE_INTEGER,
    });
    const { rows, deleted } = this.table;
    for (const each of [rows, deleted]) {
      for (const [id, row] of each) {
        const odometers = [raised(row.odometers[0]), raised(row.odometers[1])] as const;
        const versions = { version: row.version + FENCE_LEAP, ownVersion: row.ownVersion + FENCE_LEAP };
        each.set(id, { ...row, ...versions, token: '', holder: '', leaseUntilMs: nowMs, odometers });
      }
    }
    return Promise.resolve(rows.size + deleted.size);
  }

  /** None: memory that is gone is gone with everybody who used it. */
  durabilityWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  abandon(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }

  private get layoutsOfRows(): string[] {
    const { rows, deleted } = this.table;
    const used = [...rows.values(), ...deleted.values()].map(({ layout }) => layout).filter((layout) => layout !== '');
    return [...new Set(used)];
  }
}
