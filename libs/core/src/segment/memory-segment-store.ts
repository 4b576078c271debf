import { boolean, integer, type OptionsOf, resolveOptions } from '../config/option-rules.js';
import { UnknownCodeError } from './segment-errors.js';
import {
  type App,
  type AppSegmentStore,
  boundsOfCode,
  boundsOfShard,
  type ReservedSegment,
  type Segment,
  type SegmentBounds,
  type SegmentRequest,
  type SegmentSource,
  type SegmentStore,
} from './segment-store.js';
import { UnknownAppError, UnknownShardError } from './sharded/sharded-errors.js';
import { checkApp, SHARDS } from './sharded/sharded-id.js';

/** The step of rows that are made without another one. */
const DEFAULT_STEP = 1_000;

/** The options say how unknown codes are treated. */
export const memorySegmentOptions = {
  /** Whether an unknown code gets a row. @range true, false @defaultValue true */
  autoCreateCode: boolean({ default: true }),
  /** The step of these rows. @range 1-100,000,000 @defaultValue 1,000 */
  step: integer({ min: 1, max: 100_000_000, default: DEFAULT_STEP }),
};

/** The options say how unknown codes are treated. */
export interface MemorySegmentOptions extends Readonly<OptionsOf<typeof memorySegmentOptions>> {}

/** One row of a table of segments in memory. */
interface SegmentRow {
  /** The highest number that was reserved. */
  maxId: bigint;
  step: number;
  /** 0n for none. */
  maxLimitId: bigint;
}

/**
 * Keeps segments in this process's memory: for databases that live in memory themselves, and for tests.
 *
 * It promises uniqueness inside this process and as long as it lives, nothing more.
 */
abstract class MemoryStore<Key extends readonly unknown[]> implements SegmentStore<Key> {
  prepare(): Promise<void> {
    return Promise.resolve();
  }

  abstract source(...key: Key): SegmentSource;

  /** None: the memory is lost together with the process that used its numbers. */
  durabilityWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Holds the table that several {@link MemorySegmentStore} share. */
export class MemorySegmentTable {
  readonly rows = new Map<string, SegmentRow>();
}

/** The numbers of codes. */
export class MemorySegmentStore extends MemoryStore<[code: string]> {
  private readonly autoCreateCode: boolean;
  private readonly step: number;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly table: MemorySegmentTable,
    options: MemorySegmentOptions = {},
  ) {
    super();
    const { autoCreateCode, step } = resolveOptions(memorySegmentOptions, options);
    this.autoCreateCode = autoCreateCode;
    this.step = step;
  }

  source(code: string): SegmentSource {
    return new MemorySegmentSource(boundsOfCode(code), () => this.rowOf(code));
  }

  private rowOf(code: string): SegmentRow {
    const { rows } = this.table;
    const known = rows.get(code);
    if (known !== undefined) return known;
    if (!this.autoCreateCode) throw new UnknownCodeError(code);
    const created = { maxId: 0n, step: this.step, maxLimitId: 0n };
    rows.set(code, created);
    return created;
  }
}

/** Holds the table that several {@link MemoryAppSegmentStore} share. */
export class MemoryAppSegmentTable {
  /** By app, then by shard. */
  readonly rows = new Map<number, { app: App; readonly shards: Map<number, SegmentRow> }>();
}

/** The indexes of apps and their shards. */
export class MemoryAppSegmentStore extends MemoryStore<[app: number, shard: number]> implements AppSegmentStore {
  constructor(private readonly table: MemoryAppSegmentTable) {
    super();
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- to reject where it would throw
  async registerApp(appId: number, name: string, description: string): Promise<void> {
    checkApp(appId);
    const { rows } = this.table;
    const shards = rows.get(appId)?.shards ?? new Map<number, SegmentRow>();
    for (let shard = 0; shard < SHARDS; shard++) {
      if (!shards.has(shard)) shards.set(shard, { maxId: 0n, step: DEFAULT_STEP, maxLimitId: 0n });
    }
    rows.set(appId, { app: { id: appId, name, description }, shards });
  }

  apps(): Promise<App[]> {
    const apps = [...this.table.rows.values()].map(({ app }) => app);
    return Promise.resolve(apps.sort((one, other) => one.id - other.id));
  }

  source(app: number, shard: number): SegmentSource {
    return new MemorySegmentSource(boundsOfShard(app, shard), () => this.rowOf(app, shard));
  }

  private rowOf(app: number, shard: number): SegmentRow {
    const known = this.table.rows.get(app);
    if (known === undefined) throw new UnknownAppError(app);
    const row = known.shards.get(shard);
    if (row === undefined) throw new UnknownShardError(app, shard);
    return row;
  }
}

/** The numbers of a row in this process's memory. */
class MemorySegmentSource implements SegmentSource {
  /** The numbers that this source took last, without a gap: only these can be given back. */
  private taken: Segment | undefined;

  /** @param rowOf finds or makes the row; throws where there is none */
  constructor(
    private readonly bounds: SegmentBounds,
    private readonly rowOf: () => SegmentRow,
  ) {}

  // eslint-disable-next-line @typescript-eslint/require-await -- to reject where it would throw
  async reserve({ count, above }: SegmentRequest): Promise<ReservedSegment> {
    const row = this.rowOf();
    const wanted = count ?? row.step;
    if (!Number.isSafeInteger(wanted) || wanted < 1) throw new RangeError(`count must be at least 1, not ${wanted}`);
    const ceiling = this.bounds.ceiling(row.maxLimitId);
    const start = row.maxId > above ? row.maxId : above;
    if (start >= ceiling) throw this.bounds.exhausted(row.maxLimitId);
    const end = start + BigInt(wanted);
    row.maxId = end < ceiling ? end : ceiling;
    this.taken = { first: this.taken?.last === start ? this.taken.first : start + 1n, last: row.maxId };
    return { first: start + 1n, last: row.maxId, step: row.step };
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- to reject where it would throw
  async giveBack({ first, last }: Segment): Promise<boolean> {
    const { taken } = this;
    if (taken === undefined || last !== taken.last || first < taken.first || first > last) return false;
    this.taken = undefined;
    const row = this.rowOf();
    if (row.maxId !== last) return false;
    row.maxId = first - 1n;
    if (first > taken.first) this.taken = { first: taken.first, last: row.maxId };
    return true;
  }
}
