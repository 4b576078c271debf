import {
  type FenceRequest,
  LeaseWatch,
  sampleRows,
  writtenRow,
  type SampleRequest,
  type WorkerRange,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
} from '@raindrop/core';
import {
  aloneAfterLoss,
  barOf,
  fenceMs,
  judgeFence,
  latestTimes,
  type LatestTimes,
  raiseOdometersTo,
  stateAfterFence,
  wallClock,
} from '@raindrop/core/internal';
import { monotonicClock } from '../system/system-ports.js';
import {
  CorruptWorkerKeyError,
  type Fences,
  fencesAtWrite,
  fencesOf,
  recordOf,
  rowOfRecord,
  WorkerKeys,
} from './worker-record.js';
import { type Change, type Entries, type KeyValues, type Seen, update } from './key-values.js';
import { StoreCluster } from './store-cluster.js';

interface KeyWorkerStoreOptions {
  readonly values: KeyValues;
  /** Begins every key: nothing, or what ends with a slash. */
  readonly prefix: string;
  /**
   * How long other processes leave a row to its holder after its lease, ms; undefined where no key tells that the
   * holder lives.
   */
  readonly liveGraceMs: number | undefined;
  /** See grantReachMs. */
  readonly reachMs: number;
}

/**
 * Worker rows in keys, one each. A write compares the whole row, and all fences, with what was read.
 *
 * Such a store tells no time: `nowMs` is this process's clock. A lease ends by LeaseWatch, or at once when the key that
 * the holder keeps alive has gone.
 */
export class KeyWorkerStore implements WorkerStore {
  private readonly values: KeyValues;
  private readonly keys: WorkerKeys;
  private readonly cluster: StoreCluster;
  private readonly watch = new LeaseWatch(monotonicClock);
  /** The cluster of the last look, and the text of its state. */
  private readAt: { readonly cluster: string; readonly state: string | undefined } | undefined;

  constructor(private readonly options: KeyWorkerStoreOptions) {
    this.values = options.values;
    this.keys = new WorkerKeys(options.prefix);
    this.cluster = new StoreCluster(this.values, this.keys, options.reachMs);
  }

  /** @throws what the keys' store throws */
  prepare(workers: WorkerRange): Promise<void> {
    return this.cluster.prepare(workers);
  }

  /** @throws what the keys' store throws; CorruptWorkerKeyError; TableFormatError */
  async readTable(): Promise<WorkerTable> {
    const { seen, verdict } = await this.readBelieved(() => this.values.readAll());
    refuseLostFences(this.keys, seen.entries);
    const nowMs = wallClock.now();
    const rows = this.keys.idsIn(seen.entries).map((id) => this.rowOf(seen, id, nowMs)!);
    const layouts = this.keys.layoutsIn(seen.entries);
    const { untilMs, servedAlone } = fencesOf(this.keys.fence, seen.entries.get(this.keys.fence));
    const bar = barOf({
      barredUntilMs: Math.max(verdict.barredUntilMs, untilMs),
      ...(servedAlone && { servedAlone: aloneAfterLoss(servedAlone, verdict.lostUntilMs) }),
    });
    return { nowMs, rows, deleted: [], layouts, ...bar };
  }

  async readSample(request: SampleRequest): Promise<WorkerSample> {
    return sampleRows(await this.readTable(), request);
  }

  /** @throws as readTable */
  async readRow(id: number): Promise<{ nowMs: number; row: WorkerRow | undefined }> {
    const { seen, verdict } = await this.readBelieved(() => this.readKeysOf(id));
    const nowMs = wallClock.now();
    const row = this.rowOf(seen, id, nowMs);
    // The row shows the fences as they are.
    return { nowMs, row: row && raiseOdometersTo(verdict.lostUntilMs, row) };
  }

  /**
   * False also when the cluster, or its state, is not that of the last look any more: the caller must read again.
   * @throws as readTable
   */
  async write(write: WorkerWrite): Promise<boolean> {
    const { id, token, leaseMs } = write;
    const { seen } = await this.cluster.readBelieved(() => this.readKeysOf(id));
    if (this.isOther(seen)) return false;
    const { key, stored, fences } = this.storedRow(seen, id);
    const row = writtenRow(stored, write, wallClock.now());
    if (row === undefined) return false;
    const { fence, state } = this.keys;
    const live = this.liveness(id, token === '' ? 0 : leaseMs);
    // Where the key of the fences was lost, the row goes on to count them.
    const text = recordOf(row, Math.max(fences.count, fencesAtWrite(key, seen.entries.get(key)!)));
    this.cluster.noteSent(write);
    const isDone = await this.values.change('writing a worker', { seen, key, text, guards: [fence, state], ...live });
    if (isDone) {
      this.watch.wrote(row);
      this.cluster.noteWritten(write);
    }
    return isDone;
  }

  rememberLayout(fingerprint: string): Promise<void> {
    return this.cluster.rememberLayout(fingerprint);
  }

  /**
   * One key fences all rows at one moment.
   * @throws ClockBehindError; what the keys' store throws
   */
  async fence(request: FenceRequest): Promise<number> {
    const { fence } = this.keys;
    const what = 'fencing the workers';
    await this.values.addMissing(what, new Map());
    const { entries } = await this.values.readAll();
    const seen = mostFencesSeen(this.keys, entries);
    const { lostAtMs, reachMs } = await this.cluster.stateNow();
    const nowMs = wallClock.now();
    const forMs = fenceMs(request, reachMs, this.options.reachMs);
    const at = judgeFence({ ...this.timesOf(entries), lostAtMs }, request, { nowMs, forMs });
    // Also where all keys are gone: rows that are added later are fenced by it.
    await update(this.values, what, fence, (now) => {
      const { untilMs: fencedUntilMs, servedAlone, ...counted } = fencesOf(fence, now.entries.get(fence));
      const count = Math.max(counted.count, seen) + 1;
      const before = { failoverNumber: 0, lostAtMs, reachMs, fencedUntilMs, ...(servedAlone && { servedAlone }) };
      const after = stateAfterFence(before, request, at);
      const isRaised = request.servedAlone === undefined;
      const fences: Fences = {
        count,
        statedCount: request.issuedUntilMs === undefined ? counted.statedCount : count,
        raisedCount: isRaised ? count : counted.raisedCount,
        raisedUntilMs: isRaised ? after.fencedUntilMs : counted.raisedUntilMs,
        atMs: nowMs,
        untilMs: after.fencedUntilMs,
        ...(after.servedAlone && { servedAlone: after.servedAlone }),
      };
      return JSON.stringify(fences);
    });
    await this.cluster.fence(request, at);
    return this.keys.idsIn(entries).length;
  }

  /** The clocks of the processes have written all times: such a store has none. */
  private timesOf(entries: Entries): LatestTimes {
    const fences = fencesOf(this.keys.fence, entries.get(this.keys.fence));
    const rows = this.keys.idsIn(entries).map((id) => {
      const key = this.keys.row(id);
      return rowOfRecord(key, entries.get(key)!, fences);
    });
    const { writtenMs, grantedMs } = latestTimes(rows);
    return { writtenMs: Math.max(writtenMs, fences.atMs), grantedMs };
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return this.values.durabilityWarnings();
  }

  abandon(): void {
    this.values.abandon();
  }

  close(): Promise<void> {
    return this.values.close();
  }

  private async readBelieved(read: () => Promise<Seen>): ReturnType<StoreCluster['readBelieved']> {
    const looked = await this.cluster.readBelieved(read);
    const { cluster, entries } = looked.seen;
    this.readAt = { cluster, state: entries.get(this.keys.state) };
    return looked;
  }

  private isOther({ cluster, entries }: Seen): boolean {
    const { readAt } = this;
    return readAt !== undefined && (readAt.cluster !== cluster || readAt.state !== entries.get(this.keys.state));
  }

  /** Reads the keys that a look at one row needs. */
  private readKeysOf(id: number): Promise<Seen> {
    const { keys, options, cluster } = this;
    const live = options.liveGraceMs === undefined ? [] : [keys.live(id)];
    return this.values.read('reading a worker', new Set([keys.row(id), ...live, ...cluster.keysToJudge]));
  }

  /** @param leaseMs 0 when the row is given back */
  private liveness(id: number, leaseMs: number): Pick<Change, 'live'> {
    const { liveGraceMs } = this.options;
    if (liveGraceMs === undefined) return {};
    return { live: { key: this.keys.live(id), forMs: leaseMs > 0 ? leaseMs + liveGraceMs : 0 } };
  }

  private storedRow(
    { entries }: Seen,
    id: number,
  ): { readonly key: string; readonly stored: WorkerRow | undefined; readonly fences: Fences } {
    const key = this.keys.row(id);
    const fences = fencesOf(this.keys.fence, entries.get(this.keys.fence));
    const text = entries.get(key);
    return { key, stored: text === undefined ? undefined : rowOfRecord(key, text, fences), fences };
  }

  private rowOf(seen: Seen, id: number, nowMs: number): WorkerRow | undefined {
    const { stored } = this.storedRow(seen, id);
    if (stored === undefined) return undefined;
    const row = this.watch.look(stored, nowMs);
    const { liveGraceMs } = this.options;
    if (liveGraceMs === undefined || row.token === '' || seen.entries.has(this.keys.live(id))) return row;
    return { ...row, leaseUntilMs: Math.min(row.leaseUntilMs, nowMs - liveGraceMs) };
  }
}

/** The most fences that any row has seen. The key that counts fences begins again at 0 when it was deleted. */
function mostFencesSeen(keys: WorkerKeys, entries: Entries): number {
  const seen = keys.idsIn(entries).map((id) => fencesAtWrite(keys.row(id), entries.get(keys.row(id))!));
  return Math.max(0, ...seen);
}

/**
 * A row that was not written since a fence is fenced by the key alone. When any row has seen more fences than the key
 * counts, the key was deleted or put back: rows that were not written since have lost their fence.
 * @throws CorruptWorkerKeyError
 */
function refuseLostFences(keys: WorkerKeys, entries: Entries): void {
  const { count } = fencesOf(keys.fence, entries.get(keys.fence));
  const seen = mostFencesSeen(keys, entries);
  if (seen <= count) return;
  throw new CorruptWorkerKeyError(
    keys.fence,
    `was deleted or restored: it counts ${count} fences, but a row has seen ${seen}. Stop all processes, and call ` +
      `fenceWorkers() (raindrop fence) before any starts; never delete this key.`,
  );
}
