import type { App, AppSegmentStore, SegmentSource } from '@raindrop/core';
import { SHARDS } from '@raindrop/core/internal';
import type { RedisSegmentBuffer } from './redis-segment-buffer.js';

/** A store of apps whose shards' segments several processes share in Redis. */
export class RedisAppSegmentStore implements AppSegmentStore {
  private known: ReadonlySet<number> = new Set();

  /** @param database where they are reserved; closed together with the buffer */
  constructor(
    private readonly database: AppSegmentStore,
    private readonly buffer: RedisSegmentBuffer,
  ) {}

  prepare(): Promise<void> {
    return this.database.prepare();
  }

  /**
   * An app that is new in the table begins with nothing in Redis: what an earlier one with its number left there would
   * be reserved a second time. Of several processes that register one at once a slow one may clear what a quick one has
   * put there already: a gap.
   *
   * @throws RedisUnavailableError when that cannot be made sure
   */
  async registerApp(appId: number, name: string, description: string): Promise<void> {
    const apps = await this.database.apps();
    if (!apps.some(({ id }) => id === appId)) await this.drop(appId);
    await this.database.registerApp(appId, name, description);
  }

  /** Clears, besides, what Redis has of apps that were removed since the last call. */
  async apps(): Promise<App[]> {
    const apps = await this.database.apps();
    const now = new Set(apps.map(({ id }) => id));
    const removed = [...this.known].filter((id) => !now.has(id));
    this.known = now;
    // The table decides what there is: without Redis the rest expires.
    await Promise.all(removed.map((app) => this.drop(app).catch(() => undefined)));
    return apps;
  }

  source(app: number, shard: number): SegmentSource {
    return this.buffer.shard(app, shard, this.database.source(app, shard));
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return this.database.durabilityWarnings();
  }

  async close(): Promise<void> {
    await this.buffer.close();
    await this.database.close();
  }

  private async drop(app: number): Promise<void> {
    const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
    await Promise.all(shards.map((shard) => this.buffer.dropShard(app, shard)));
  }
}
