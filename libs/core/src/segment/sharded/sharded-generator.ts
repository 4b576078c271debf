import { resolveOptions } from '../../config/option-rules.js';
import { WaitTimeoutError } from '../../generator/generator-errors.js';
import type { WaitOptions } from '../../generator/waiting.js';
import { ClosedError } from '../../lease/lease-errors.js';
import type { RaindropError } from '../../raindrop-error.js';
import { withDeadline } from '../../async.js';
import { BufferedOutputs } from '../../prefetch/buffered-generator.js';
import type { PrefetcherPorts, Timer, Timers } from '../../ports.js';
import type { App, AppSegmentStore } from '../segment-store.js';
import { ReservationCounters, type SegmentContext, SegmentPrefetcher } from '../segment-policy.js';
import { SegmentNotReadyError, storeError } from '../segment-errors.js';
import { prepareStore } from '../segment-generator.js';
import { segmentOptions, type SegmentOptions } from '../segment-options.js';
import { checkApp, composeShardedId, shardOf, SHARDS } from './sharded-id.js';
import { NoShardedIdLeftError, ShardedIdsNotReadyError, UnknownAppError } from './sharded-errors.js';

/** The app and the person that an ID is for. */
export interface ShardedIdRequest {
  /** 0 to 255, registered. */
  readonly app: number;
  /** A user name, a phone number, an e-mail address: 1 to 512 UTF-16 units. It chooses the shard and is not kept. */
  readonly gatePass: string;
}

/** The status says how the sharded IDs are doing. */
export interface ShardedIdsStatus {
  /** Whether the apps have been read. */
  readonly isReady: boolean;
  readonly apps: readonly App[];
  /** How many shards, over all apps, were asked for an ID. */
  readonly shardsInUse: number;
  /** Why the apps could not be read the last time; undefined when they were. */
  readonly lastError: RaindropError | undefined;
  /** Counted since the start, indexes as numbers. */
  readonly counters: Readonly<ReservationCounters> & { readonly issued: number };
}

/**
 * Issues IDs for the public: `index * 16384 + shard * 256 + app`. The index is dense within an app's shard; the caller's
 * gate pass chooses the shard. How many IDs an app issues is blurred, not hidden: one gate pass sees consecutive indexes.
 *
 * Calls throw, or reject with, InvalidAppError, InvalidGatePassError, ShardedIdsNotReadyError before `start`,
 * UnknownAppError, UnknownShardError, NoShardedIdLeftError, SegmentExhaustedError at the whole ID's limit, ClosedError.
 */
export class ShardedGenerator {
  private readonly directory: AppDirectory;
  private readonly prefetchers = new Map<number, SegmentPrefetcher>();
  private readonly ctx: SegmentContext;
  private readonly outputs: BufferedOutputs<SegmentPrefetcher>;
  /** How many IDs the shards of removed apps issued. */
  private issuedBefore = 0;
  private closing: Promise<void> | undefined;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly store: AppSegmentStore,
    ports: PrefetcherPorts,
    options: SegmentOptions = {},
  ) {
    this.ctx = { options: resolveOptions(segmentOptions, options), ports, counters: new ReservationCounters() };
    this.outputs = new BufferedOutputs(this.ctx);
    const removed = (apps: readonly number[]): void => apps.forEach((app) => this.closeApp(app));
    this.directory = new AppDirectory(store, ports.timers, this.ctx.options.opTimeoutMs, removed);
  }

  /**
   * Makes the table where it is missing and reads the apps. From then on they are read again every two minutes.
   * @throws SegmentStoreUnavailableError
   */
  async start(): Promise<void> {
    await prepareStore(this.store, this.ctx);
    await this.directory.start();
  }

  /** Returns the next ID for an app and a gate pass, from memory and at once. */
  nextSharded(request: ShardedIdRequest): bigint {
    const { app, shard } = this.placeOf(request);
    let index: bigint;
    try {
      index = this.outputs.id(this.prefetcher(app, shard));
    } catch (error) {
      throw this.named(error, app, shard);
    }
    return composeShardedId({ index, shard, app });
  }

  /** Returns the next ID as decimal text. */
  nextString(request: ShardedIdRequest): string {
    return this.nextSharded(request).toString();
  }

  /** Returns the next ID; waits for the next numbers, at most `timeoutMs`. */
  async nextShardedAsync(request: ShardedIdRequest, wait?: WaitOptions): Promise<bigint> {
    const { app, shard } = this.placeOf(request);
    let index: bigint;
    try {
      const prefetcher = this.prefetcher(app, shard);
      index = await this.outputs.idAsync(() => prefetcher, wait);
    } catch (error) {
      throw this.named(error, app, shard);
    }
    return composeShardedId({ index, shard, app });
  }

  /** Returns the next ID as decimal text; waits as {@link nextShardedAsync} does. */
  async nextStringAsync(request: ShardedIdRequest, wait?: WaitOptions): Promise<string> {
    return (await this.nextShardedAsync(request, wait)).toString();
  }

  /**
   * Makes an app known: its 64 rows where they are missing, its name and description. Here it can be used at once, in
   * other processes within two minutes.
   * @throws InvalidAppError; SegmentStoreUnavailableError
   */
  async registerApp(appId: number, name: string, description = ''): Promise<void> {
    checkApp(appId);
    if (this.closing !== undefined) throw new ClosedError();
    await this.store.registerApp(appId, name, description);
    await this.directory.reload();
  }

  /** Call it when this process may be a copy of another, which has the same numbers at hand: drops these. */
  afterRestore(): void {
    for (const prefetcher of this.prefetchers.values()) prefetcher.forget();
  }

  /**
   * Gives back what was not used, as far as it is the last that was reserved, and closes the store. From the first moment
   * on every call throws ClosedError. Never rejects.
   */
  close(): Promise<void> {
    return (this.closing ??= this.closeAll());
  }

  /** Tells which apps are known, and counts what was issued and reserved. */
  status(): ShardedIdsStatus {
    const { isReady, apps, lastError } = this.directory;
    let issued = this.issuedBefore;
    for (const prefetcher of this.prefetchers.values()) issued += prefetcher.issued;
    const counters = { issued, ...this.ctx.counters };
    return { isReady, apps, shardsInUse: this.prefetchers.size, lastError, counters };
  }

  private async closeAll(): Promise<void> {
    this.directory.stop();
    await Promise.all([...this.prefetchers.values()].map((prefetcher) => prefetcher.close()));
    await this.store.close();
  }

  private placeOf({ app, gatePass }: ShardedIdRequest): { app: number; shard: number } {
    checkApp(app);
    const shard = shardOf(gatePass);
    if (this.closing !== undefined) throw new ClosedError();
    this.directory.require(app);
    return { app, shard };
  }

  private prefetcher(app: number, shard: number): SegmentPrefetcher {
    const key = app * SHARDS + shard;
    let prefetcher = this.prefetchers.get(key);
    if (prefetcher === undefined) {
      const source = this.store.source(app, shard);
      prefetcher = new SegmentPrefetcher(`app ${app}, shard ${shard}`, source, this.ctx);
      this.prefetchers.set(key, prefetcher);
    }
    return prefetcher;
  }

  /** The numbers at hand of an app that was removed are never used: its rows are gone. */
  private closeApp(app: number): void {
    for (let shard = 0; shard < SHARDS; shard++) {
      const key = app * SHARDS + shard;
      const prefetcher = this.prefetchers.get(key);
      if (prefetcher === undefined) continue;
      this.issuedBefore += prefetcher.issued;
      this.prefetchers.delete(key);
      void prefetcher.close();
    }
  }

  /** Makes an error of sharded IDs of a prefetcher's error. */
  private named(error: unknown, app: number, shard: number): unknown {
    if (error instanceof SegmentNotReadyError || error instanceof WaitTimeoutError) {
      return new NoShardedIdLeftError(app, shard, error);
    }
    // The prefetcher was closed because its app was removed while the call waited.
    if (error instanceof ClosedError && this.closing === undefined) return new UnknownAppError(app);
    return error;
  }
}

/** How often the apps are read again, ms: another process's registration, or a removal, is seen within this time. */
const RELOAD_MS = 120_000;

/** Reads which apps there are, again every two minutes. When a reading fails, the apps of the one before stay. */
class AppDirectory {
  /** Why the last reading failed; undefined since one succeeded. */
  lastError: RaindropError | undefined;
  private known: ReadonlyMap<number, App> | undefined;
  private timer: Timer | undefined;
  private isStopped = false;
  private readings = 0;
  private latest = 0;

  /** @param removed is told which apps were there at the reading before, and are no more */
  constructor(
    private readonly store: AppSegmentStore,
    private readonly timers: Timers,
    private readonly opTimeoutMs: number,
    private readonly removed: (apps: readonly number[]) => void,
  ) {}

  get isReady(): boolean {
    return this.known !== undefined;
  }

  /** By id. */
  get apps(): readonly App[] {
    return [...(this.known?.values() ?? [])];
  }

  /** @throws ShardedIdsNotReadyError before the first reading; UnknownAppError */
  require(app: number): void {
    if (this.known === undefined) throw new ShardedIdsNotReadyError(this.lastError);
    if (!this.known.has(app)) throw new UnknownAppError(app);
  }

  /** Reads them, and again every two minutes, whether this reading succeeds or not. @throws SegmentStoreUnavailableError */
  async start(): Promise<void> {
    try {
      await this.reload();
    } finally {
      this.reloadLater();
    }
  }

  /** @throws SegmentStoreUnavailableError */
  async reload(): Promise<void> {
    const reading = ++this.readings;
    let apps: App[];
    try {
      apps = await withDeadline(() => this.store.apps(), this.opTimeoutMs, this.timers);
    } catch (error) {
      throw (this.lastError = storeError('reading apps', error));
    }
    // A later reading was answered first: this one is older.
    if (reading < this.latest) return;
    this.latest = reading;
    this.lastError = undefined;
    const before = this.known;
    this.known = new Map(apps.map((app) => [app.id, app]));
    this.removed([...(before?.keys() ?? [])].filter((id) => !this.known!.has(id)));
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private reloadLater(): void {
    if (this.isStopped) return;
    this.timer?.cancel();
    this.timer = this.timers.setTimer(() => void this.reloadAgain(), RELOAD_MS, 'background');
  }

  private async reloadAgain(): Promise<void> {
    await this.reload().catch(() => undefined);
    this.reloadLater();
  }
}
