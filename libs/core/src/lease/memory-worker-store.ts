import type { WorkerRange } from '../layout/layout-options.js';
import {
  FailoverGuard,
  barOf,
  MOST_LOOKS,
  type KnownServer,
  type ServerVerdict,
  type StoreTerm,
} from './failover-guard.js';
import { fencedRow, fenceMs, judgeFence, latestTimes, stateAfterFence } from './fence.js';
import {
  type FenceRequest,
  type SampleRequest,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
  sampleRows,
  unusedRow,
  writtenRow,
} from './worker-store.js';

/** Holds the table that several {@link MemoryWorkerStore} share. */
export class MemoryWorkerTable {
  readonly rows = new Map<number, WorkerRow>();
  /** Rows that were marked deleted. */
  readonly deleted = new Map<number, WorkerRow>();
  readonly layouts = new Set<string>();
  /** The term of a simulated server; '' as long as none is ever replaced. */
  term = '';
  /** The record of the server before. */
  state: Omit<StoreTerm, 'nowMs' | 'term'> = { knownTerm: undefined, failoverNumber: 0, lostAtMs: 0, reachMs: 0 };
}

/**
 * Keeps worker rows in this process's memory: for databases that live in memory themselves, and for tests.
 *
 * It promises uniqueness inside this process and as long as it lives, nothing more.
 */
export class MemoryWorkerStore implements WorkerStore {
  private range: WorkerRange | undefined;
  private readonly guard: FailoverGuard;

  /** @param reachMs how far grants reach past a loss of commits, ms; see grantReachMs */
  constructor(
    private readonly table: MemoryWorkerTable,
    private readonly now: () => number,
    private readonly reachMs = 0,
  ) {
    this.guard = new FailoverGuard(reachMs);
  }

  protected get believed(): KnownServer | undefined {
    return this.guard.believed;
  }

  protected set believed(server: KnownServer | undefined) {
    this.guard.believed = server;
  }

  prepare({ min, max }: WorkerRange): Promise<void> {
    this.range = { min, max };
    this.guard.mayWrite = true;
    for (let id = min; id <= max; id++) {
      if (this.table.rows.has(id) || this.table.deleted.has(id)) continue;
      this.table.rows.set(id, unusedRow(id));
    }
    return Promise.resolve();
  }

  readTable(): Promise<WorkerTable> {
    return new Promise((resolve) => resolve(this.readAll()));
  }

  readSample(request: SampleRequest): Promise<WorkerSample> {
    return new Promise((resolve) => resolve(sampleRows(this.readAll(), request)));
  }

  readRow(id: number): Promise<{ nowMs: number; row: WorkerRow | undefined }> {
    return new Promise((resolve) => {
      this.checkServer();
      resolve({ nowMs: this.now(), row: this.table.rows.get(id) });
    });
  }

  write(write: WorkerWrite): Promise<boolean> {
    this.guard.noteSent(write);
    const { term = '', failoverNumber = 0 } = this.believed ?? {};
    const written = writtenRow(this.table.rows.get(write.id), write, this.now());
    // After a failover, also one to another server and back, a row may only look the same.
    const isSame = term === this.table.term && failoverNumber === this.table.state.failoverNumber;
    if (written === undefined || !isSame) return Promise.resolve(false);
    this.table.rows.set(write.id, written);
    this.guard.noteWritten(write);
    return Promise.resolve(true);
  }

  rememberLayout(fingerprint: string): Promise<void> {
    this.guard.noteLayouts([fingerprint]);
    this.table.layouts.add(fingerprint);
    return Promise.resolve();
  }

  fence(request: FenceRequest): Promise<number> {
    return new Promise((resolve) => {
      const nowMs = this.now();
      const { rows, deleted, state, term } = this.table;
      const forMs = fenceMs(request, state.reachMs, term === '' ? 0 : this.reachMs);
      const times = { ...latestTimes([...rows.values(), ...deleted.values()]), ...state };
      const at = judgeFence(times, request, { nowMs, forMs });
      const fenced = stateAfterFence(state, request, at);
      this.table.state = { ...fenced, knownTerm: state.knownTerm && term !== '' ? term : (state.knownTerm ?? '') };
      for (const each of [rows, deleted]) {
        for (const [id, row] of each) each.set(id, fencedRow(row, request, { nowMs, untilMs: fenced.fencedUntilMs }));
      }
      resolve(rows.size + deleted.size);
    });
  }

  /** None: memory is lost only together with the processes that used it. */
  durabilityWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  abandon(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }

  private readAll(): WorkerTable {
    const verdict = this.checkServer();
    const { rows, deleted, layouts } = this.table;
    this.guard.noteLayouts(layouts);
    return {
      nowMs: this.now(),
      rows: [...rows.values()],
      deleted: [...deleted.values()],
      layouts: [...layouts],
      ...barOf(verdict),
    };
  }

  /** As {@link FailoverGuard.readBelieved}, at one moment. @throws FormerPrimaryError */
  private checkServer(): ServerVerdict {
    const { table, guard } = this;
    // Rows that were marked deleted are in `deleted`, and one that is in neither may have been deleted.
    const versionOf = (id: number): number | undefined => table.rows.get(id)?.version;
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const seen = { nowMs: this.now(), term: table.term, ...table.state, versionOf };
      const verdict = guard.judge(seen);
      if (guard.believe(seen, verdict)) return verdict;
      const { isNewFailover, mustRecord, failoverNumber } = verdict;
      if (guard.mayLackRows(seen, verdict)) {
        void this.prepare(this.range!);
        for (const layout of guard.layouts) table.layouts.add(layout);
        guard.noteCompleted({ term: seen.term, failoverNumber });
      }
      if (isNewFailover) guard.noteRecorded({ term: seen.term, failoverNumber }, seen.nowMs);
      if (!mustRecord) continue;
      const lostAtMs = isNewFailover ? Math.max(seen.nowMs, seen.lostAtMs) : seen.lostAtMs;
      const reachMs = Math.max(seen.reachMs, this.reachMs);
      table.state = { ...table.state, knownTerm: seen.term, failoverNumber, lostAtMs, reachMs };
    }
    throw new Error('every read reaches another server');
  }
}
