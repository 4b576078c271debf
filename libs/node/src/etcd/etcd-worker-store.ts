import {
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
import { raisedTo } from '@raindrop/core/internal';
import { EtcdCluster } from './etcd-cluster.js';
import { EtcdGateway } from './etcd-gateway.js';
import { EtcdKeys, get, put, remove, type Seen } from './etcd-keys.js';
import { EtcdLiveness } from './etcd-liveness.js';
import type { ResolvedEtcdAddress } from './etcd-options.js';
import { EtcdTable } from './etcd-table.js';
import { fencesOf, recordOf, rowOfRecord, type Fences } from './worker-record.js';

export interface EtcdWorkerStoreOptions {
  readonly address: ResolvedEtcdAddress;
  /** Begins every key; ends with a slash. */
  readonly prefix: string;
  /** Limit for one request and what it takes to find who answers it, ms. */
  readonly opTimeoutMs: number;
  /** How long others leave a row to its holder when its lease is over, ms. */
  readonly graceMs: number;
  /** See reachOf. */
  readonly reachMs: number;
}

/**
 * Worker rows in the keys of an etcd, one each. A write compares the whole row, and all fences, with what was read.
 *
 * etcd has no clock that it tells: `nowMs` is this process's, and leases end by LeaseWatch, or at once when the lease of
 * etcd that the holder keeps alive has ended.
 */
export class EtcdWorkerStore implements WorkerStore {
  private readonly gateway: EtcdGateway;
  private readonly keys: EtcdKeys;
  private readonly table: EtcdTable;
  private readonly cluster: EtcdCluster;
  private readonly liveness: EtcdLiveness;
  private readonly watch = new LeaseWatch(performance);
  /** Where was read last, and what was known of it. */
  private readAt: { readonly cluster: string; readonly state: string | undefined } | undefined;

  constructor(private readonly options: EtcdWorkerStoreOptions) {
    this.gateway = new EtcdGateway(options.address, options.opTimeoutMs);
    this.keys = new EtcdKeys(options.prefix);
    this.table = new EtcdTable(this.gateway, this.keys);
    this.cluster = new EtcdCluster(this.table, this.keys, options.reachMs);
    this.liveness = new EtcdLiveness(this.gateway);
  }

  /** @throws EtcdUnavailableError; EtcdRefusedError */
  prepare(workers: WorkerRange): Promise<void> {
    return this.cluster.prepare(workers);
  }

  /** @throws EtcdUnavailableError; EtcdRefusedError; CorruptEtcdWorkerError; TableFormatError */
  async readTable(): Promise<WorkerTable> {
    const { seen, floorMs } = await this.look(() => this.table.readAll());
    const nowMs = Date.now();
    const rows = this.keys.idsIn(seen.entries).map((id) => this.rowOf(seen, id, nowMs)!);
    const layouts = this.keys.layoutsIn(seen.entries);
    const lost = floorMs > 0 && { barredUntilMs: floorMs, mayLackLayouts: true };
    return { nowMs, rows, deleted: [], layouts, ...lost };
  }

  async readSample(request: SampleRequest): Promise<WorkerSample> {
    return sampleRows(await this.readTable(), request);
  }

  /** @throws as readTable */
  async readRow(id: number): Promise<{ nowMs: number; row: WorkerRow | undefined }> {
    const { seen, floorMs } = await this.look(() => this.readKeysOf(id));
    const nowMs = Date.now();
    const row = this.rowOf(seen, id, nowMs);
    return { nowMs, row: row && raisedTo(floorMs, row) };
  }

  /**
   * False also where the cluster is not the one of the last look any more: who has read there must look again.
   * @throws as readTable
   */
  async write(write: WorkerWrite): Promise<boolean> {
    const { id, token, leaseMs } = write;
    const { seen } = await this.cluster.look(() => this.readKeysOf(id));
    if (this.isOther(seen)) return false;
    const { key, stored, fences } = this.storedRow(seen, id);
    const row = writtenRow(stored, write, Date.now());
    if (row === undefined) return false;
    const isHeld = token !== '' && leaseMs > 0;
    const live = this.keys.live(id);
    const changes = [
      put(key, recordOf(row, fences.count)),
      isHeld ? put(live, '1', await this.liveness.keep(leaseMs + this.options.graceMs)) : remove(live),
    ];
    const { isDone } = await this.change(seen, id, changes);
    if (isDone) this.watch.wrote(row);
    return isDone;
  }

  rememberLayout(fingerprint: string): Promise<void> {
    return this.cluster.rememberLayout(fingerprint);
  }

  /** One key says it of all rows, so that it comes between no two of them. */
  async fence(aheadMs: number): Promise<number> {
    const { fence, rows } = this.keys;
    const nowMs = Date.now();
    const next = (text: string | undefined): string => {
      const { count, untilMs } = fencesOf(fence, text);
      return JSON.stringify({ count: count + 1, atMs: nowMs, untilMs: Math.max(untilMs, nowMs + aheadMs) });
    };
    const counting = get({ ...rows, count_only: true });
    const answers = await this.table.update('fencing the workers', fence, next, [counting]);
    return Number(answers[1]?.['count'] ?? 0);
  }

  /** etcd syncs every commit of most members to disk, and has no setting to be read that says otherwise. */
  durabilityWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  abandon(): void {
    this.gateway.abandon();
  }

  close(): Promise<void> {
    this.gateway.close();
    return Promise.resolve();
  }

  private async look(read: () => Promise<Seen>): ReturnType<EtcdCluster['look']> {
    const looked = await this.cluster.look(read);
    const { cluster, entries } = looked.seen;
    this.readAt = { cluster, state: entries.get(this.keys.state) };
    return looked;
  }

  private isOther({ cluster, entries }: Seen): boolean {
    const { readAt } = this;
    return readAt !== undefined && (readAt.cluster !== cluster || readAt.state !== entries.get(this.keys.state));
  }

  /** All that a look at one row needs. */
  private readKeysOf(id: number): Promise<Seen> {
    const { keys } = this;
    return this.table.read('reading a worker', [keys.row(id), keys.live(id), keys.fence, keys.state]);
  }

  private async change(seen: Seen, id: number, changes: readonly object[]): ReturnType<EtcdTable['change']> {
    const { keys } = this;
    const expected = [keys.row(id), keys.fence, keys.state].map((key) => [key, seen.entries.get(key)] as const);
    try {
      return await this.table.change('writing a worker', new Map(expected), changes);
    } catch (error) {
      // The lease may have ended meanwhile, too.
      this.liveness.forget();
      throw error;
    }
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
    if (row.token === '' || seen.entries.has(this.keys.live(id))) return row;
    return { ...row, leaseUntilMs: Math.min(row.leaseUntilMs, nowMs - this.options.graceMs) };
  }
}
