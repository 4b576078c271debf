import { createHash } from 'node:crypto';
import {
  type FenceRequest,
  type LeaseOptions,
  LeaseWatch,
  type MonotonicClock,
  type SampleRequest,
  type ServedAlone,
  unusedRow,
  type WorkerRange,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
} from '@raindrop/core';
import { MemoryWorkerStore, MemoryWorkerTable, wallClock } from '@raindrop/core/internal';
import { hostTimers, monotonicClock } from '../system/system-ports.js';
import { fileSystemWarnings, StateDirectory, StateFileCorruptError, type StateVersion } from './state-directory.js';

/** The first line: what it is, its format's number and the digest of the second line, which is JSON. */
const HEADER = /^raindrop-workers (\d+) ([0-9a-f]{64})\n/;
const FORMAT = 1;

/** Rows that were never used are kept as ranges of their ids: a thousand rows would take milliseconds to read. */
interface Stored {
  readonly unused: readonly WorkerRange[];
  readonly rows: readonly WorkerRow[];
  readonly deleted: readonly WorkerRow[];
  readonly layouts: readonly string[];
  /** Left out before the first fence. */
  readonly fencedUntilMs?: number;
  readonly servedAlone?: ServedAlone;
}

/** The text is no state of workers, or one that this release cannot read. */
export class UnreadableStateError extends Error {}

export function encodeWorkers({ rows, deleted, layouts, state }: MemoryWorkerTable): string {
  const all = [...rows.values()].sort((a, b) => a.id - b.id);
  const isUnused = (row: WorkerRow): boolean => row.version === 0;
  const stored: Stored = {
    unused: rangesOf(all.filter(isUnused).map(({ id }) => id)),
    rows: all.filter((row) => !isUnused(row)),
    deleted: [...deleted.values()],
    layouts: [...layouts],
    ...(state.fencedUntilMs !== undefined && { fencedUntilMs: state.fencedUntilMs }),
    ...(state.servedAlone !== undefined && { servedAlone: state.servedAlone }),
  };
  const body = JSON.stringify(stored);
  return `raindrop-workers ${FORMAT} ${digestOf(body)}\n${body}\n`;
}

/** @throws UnreadableStateError */
export function decodeWorkers(text: string): MemoryWorkerTable {
  const match = HEADER.exec(text);
  if (match === null) throw new UnreadableStateError('its header is wrong');
  if (Number(match[1]) !== FORMAT) {
    throw new UnreadableStateError(`it was written by another release, in format ${match[1]}`);
  }
  const body = text.slice(match[0].length).replace(/\n$/, '');
  if (digestOf(body) !== match[2]) throw new UnreadableStateError('it was changed or cut: its digest differs');
  // A text with the right digest was written by encodeWorkers: its values need no checks.
  const { unused, rows, deleted, layouts, fencedUntilMs, servedAlone } = JSON.parse(body) as Stored;
  const table = new MemoryWorkerTable();
  // Failovers are not counted: each call replaces the file that it has read, or reads it again.
  if (fencedUntilMs !== undefined) table.state = { ...table.state, fencedUntilMs, ...(servedAlone && { servedAlone }) };
  for (const { min, max } of unused) {
    for (let id = min; id <= max; id++) table.rows.set(id, unusedRow(id));
  }
  for (const row of rows) table.rows.set(row.id, row);
  for (const row of deleted) table.deleted.set(row.id, row);
  for (const layout of layouts) table.layouts.add(layout);
  return table;
}

/** @param ids ascending */
function rangesOf(ids: readonly number[]): WorkerRange[] {
  const ranges: { min: number; max: number }[] = [];
  for (const id of ids) {
    const last = ranges.at(-1);
    if (last?.max === id - 1) last.max = id;
    else ranges.push({ min: id, max: id });
  }
  return ranges;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

interface FileWorkerStoreOptions {
  /** Where the state is: a directory of this name is made at the first start. The directory around it must exist. */
  readonly path: string;
  /** The "database's" clock. Default this host's. */
  readonly now?: () => number;
  readonly monotonic?: MonotonicClock;
  /** For tests. */
  readonly directory?: StateDirectory;
}

/** A process that was overtaken waits up to so long, at random: not all of them try again in the same moment. */
const LONGEST_PAUSE_MS = 64;

const NOTHING = encodeWorkers(new MemoryWorkerTable());

/**
 * Worker rows in a file, for the processes of one machine. Every write is on the disk before it is answered.
 *
 * The file holds the whole table, which is read, changed and replaced by compare-and-swap (see StateDirectory). Without
 * a file all rows are unused: removing it removes the memory of what was issued.
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
    return this.ask((table) => table.readTable());
  }

  readSample(request: SampleRequest): Promise<WorkerSample> {
    return this.ask((table) => table.readSample(request));
  }

  readRow(id: number): Promise<{ readonly nowMs: number; readonly row: WorkerRow | undefined }> {
    return this.ask((table) => table.readRow(id));
  }

  write(write: WorkerWrite): Promise<boolean> {
    return this.change((table) => table.write(write));
  }

  rememberLayout(fingerprint: string): Promise<void> {
    return this.change((table) => table.rememberLayout(fingerprint));
  }

  fence(request: FenceRequest): Promise<number> {
    return this.change((table) => table.fence(request));
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return fileSystemWarnings(this.directory.path);
  }

  /** A change under way may still be made, but is not tried again. */
  abandon(): void {
    this.abandoned++;
  }

  /** Nothing is kept open. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private async ask<T>(question: (table: MemoryWorkerStore) => Promise<T>): Promise<T> {
    const table = this.decode(await this.read());
    const nowMs = this.now();
    for (const [id, row] of table.rows) {
      // After the clock was set back, leases of processes that are gone begin in the future: they would last for hours.
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

/**
 * Says how a lease in a state file is kept when nothing else is said. A process that is killed leaves its row held
 * until the lease ends: with a single row the next one waits 3 s at most. A disk may stand still for 1.5 s before
 * any process notices.
 */
export const stateFileLease: Readonly<LeaseOptions> = Object.freeze({
  heartbeatIntervalMs: 500,
  opTimeoutMs: 1_000,
  leaseMs: 3_000,
  // As long as the lease: then what a killed process had reserved is past when its lease is.
  horizonMs: 3_000,
  // The clock of the lease is the host's own.
  graceMs: 0,
  waitForWorkerMs: 10_000,
});
