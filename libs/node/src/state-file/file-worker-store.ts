import { MemoryWorkerStore, MemoryWorkerTable, wallClock } from '@raindrop/core/internal';
import {
  LeaseWatch,
  type MonotonicClock,
  type SampleRequest,
  type WorkerRange,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
} from '@raindrop/core';
import { monotonicClock } from '../system/system-clock.js';
import { fileSystemWarnings } from './file-system-warnings.js';
import { StateDirectory, type StateVersion } from './state-directory.js';
import { StateFileCorruptError } from './state-file-errors.js';
import { decodeWorkers, encodeWorkers, UnreadableStateError } from './worker-state.js';
import { hostTimers } from '../system/host-timers.js';

export interface FileWorkerStoreOptions {
  /** Where the state is: a directory of this name is made at the first start. The directory around it must exist. */
  readonly path: string;
  /** The "database's" clock. Default this host's. */
  readonly now?: () => number;
  readonly monotonic?: MonotonicClock;
  /** For tests. */
  readonly directory?: StateDirectory;
}

/** Those that were overtaken wait up to this long, so that not all of them try again in the same moment. */
const LONGEST_PAUSE_MS = 64;

const NOTHING = encodeWorkers(new MemoryWorkerTable());

/**
 * Worker rows in a file, for the processes of one machine. Every write is on the disk before it is answered.
 *
 * The file holds the whole table, which is read, changed and replaced by compare-and-swap (see StateDirectory). Without
 * a file all rows are unused: whoever removes it removes the memory of what was issued.
 */
export class FileWorkerStore implements WorkerStore {
  private readonly directory: StateDirectory;
  private readonly now: () => number;
  private readonly watch: LeaseWatch;
  private last: StateVersion | undefined;
  private abandoned = 0;

  constructor({ path, now = () => wallClock.now(), monotonic = monotonicClock, directory }: FileWorkerStoreOptions) {
    this.directory = directory ?? new StateDirectory(path);
    this.now = now;
    this.watch = new LeaseWatch(monotonic);
  }

  /** @throws StateFileCorruptError, StateFileUnusableError, as all calls */
  prepare(workers: WorkerRange): Promise<void> {
    return this.change((table) => table.prepare(workers));
  }

  readTable(): Promise<WorkerTable> {
    return this.look((table) => table.readTable());
  }

  readSample(request: SampleRequest): Promise<WorkerSample> {
    return this.look((table) => table.readSample(request));
  }

  readRow(id: number): Promise<{ readonly nowMs: number; readonly row: WorkerRow | undefined }> {
    return this.look((table) => table.readRow(id));
  }

  write(write: WorkerWrite): Promise<boolean> {
    return this.change((table) => table.write(write));
  }

  rememberLayout(fingerprint: string): Promise<void> {
    return this.change((table) => table.rememberLayout(fingerprint));
  }

  fence(aheadMs: number): Promise<number> {
    return this.change((table) => table.fence(aheadMs));
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return fileSystemWarnings(this.directory.path);
  }

  /** What is under way may still come about, but is not tried again. */
  abandon(): void {
    this.abandoned++;
  }

  /** Nothing is kept open. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private async look<T>(question: (table: MemoryWorkerStore) => Promise<T>): Promise<T> {
    const table = this.decode(await this.read());
    const nowMs = this.now();
    for (const [id, row] of table.rows) {
      // A clock that was set back finds leases that begin in the future, of processes that are gone: for hours.
      if (row.heartbeatMs > nowMs) table.rows.set(id, this.watch.look(row, nowMs));
    }
    return question(new MemoryWorkerStore(table, () => nowMs));
  }

  private async change<T>(change: (table: MemoryWorkerStore) => Promise<T>): Promise<T> {
    const { abandoned, directory } = this;
    for (let tries = 1; ; tries++) {
      const version = await this.read();
      if (this.abandoned !== abandoned) throw new Error('the call was abandoned');
      const table = this.decode(version);
      const answer = await change(new MemoryWorkerStore(table, this.now));
      const text = encodeWorkers(table);
      if (text === (version?.text ?? NOTHING)) return answer;
      const written = await (version === undefined ? directory.create(text) : directory.replace(version, text));
      if (written !== undefined) {
        this.last = written;
        return answer;
      }
      await hostTimers.sleep(Math.random() * Math.min(2 ** tries, LONGEST_PAUSE_MS));
    }
  }

  private async read(): Promise<StateVersion | undefined> {
    return (this.last = await this.directory.read(this.last));
  }

  private decode(version: StateVersion | undefined): MemoryWorkerTable {
    if (version === undefined) return new MemoryWorkerTable();
    try {
      return decodeWorkers(version.text);
    } catch (error) {
      if (!(error instanceof UnreadableStateError)) throw error;
      throw new StateFileCorruptError(this.directory.path, `${version.name}: ${error.message}`);
    }
  }
}
