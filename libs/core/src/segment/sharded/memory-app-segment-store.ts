import { MAX_ID } from '../../codec/id-codec.js';
import type { App, AppSegmentStore, SegmentSource } from '../segment-store.js';
import { SegmentExhaustedError } from '../segment-errors.js';
import { MemorySegmentSource, type SegmentRow } from '../memory-segment-store.js';
import { checkApp, composeShardedId, MAX_INDEX, SHARDS } from './sharded-id.js';
import { UnknownAppError, UnknownShardError } from './sharded-errors.js';

/** Holds the table that several {@link MemoryAppSegmentStore} share. */
export class MemoryAppSegmentTable {
  /** By app, then by shard. */
  readonly rows = new Map<number, { app: App; readonly shards: Map<number, SegmentRow> }>();
}

const STEP = 1_000;

/**
 * Keeps indexes of apps and their shards in this process's memory: for databases that live in memory themselves, and
 * for tests.
 *
 * It promises uniqueness inside this process and as long as it lives, nothing more.
 */
export class MemoryAppSegmentStore implements AppSegmentStore {
  constructor(private readonly table: MemoryAppSegmentTable) {}

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- to reject where it would throw
  async registerApp(appId: number, name: string, description: string): Promise<void> {
    this.register({ id: appId, name, description });
  }

  apps(): Promise<App[]> {
    const apps = [...this.table.rows.values()].map(({ app }) => app);
    return Promise.resolve(apps.sort((one, other) => one.id - other.id));
  }

  source(app: number, shard: number): SegmentSource {
    const lowest = composeShardedId({ index: 0n, shard, app });
    return new MemorySegmentSource({
      find: () => this.rowOf(app, shard),
      ceiling: (maxLimitId) => (maxLimitId === 0n ? MAX_INDEX : (maxLimitId - lowest) >> 14n),
      exhausted: (maxLimitId) =>
        new SegmentExhaustedError(`app ${app}, shard ${shard}`, maxLimitId === 0n ? MAX_ID : maxLimitId),
    });
  }

  /** None: memory that is gone is gone with everybody who used it. */
  durabilityWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private register(app: App): void {
    checkApp(app.id);
    const { rows } = this.table;
    const shards = rows.get(app.id)?.shards ?? new Map<number, SegmentRow>();
    for (let shard = 0; shard < SHARDS; shard++) {
      if (!shards.has(shard)) shards.set(shard, { maxId: 0n, step: STEP, maxLimitId: 0n });
    }
    rows.set(app.id, { app, shards });
  }

  private rowOf(app: number, shard: number): SegmentRow {
    const known = this.table.rows.get(app);
    if (known === undefined) throw new UnknownAppError(app);
    const row = known.shards.get(shard);
    if (row === undefined) throw new UnknownShardError(app, shard);
    return row;
  }
}
