import {
  type LayoutOptions,
  type ResolvedLayout,
  resolveLayout,
  type WorkerRange,
} from '../../../libs/core/src/layout/layout-options.js';
import { MemoryWorkerStore, MemoryWorkerTable } from '../../../libs/core/src/lease/memory-worker-store.js';
import type { WorkerRow } from '../../../libs/core/src/lease/worker-store.js';
import type { GeneratorOptions } from '../../../libs/core/src/generator/generator-options.js';
import { SnowflakeGenerator } from '../../../libs/core/src/generator/snowflake-generator.js';
import type { LeaseContext } from '../../../libs/core/src/lease/lease-context.js';
import type { LeaseEvent } from '../../../libs/core/src/lease/worker-keeper.js';
import { StoreWorkerKeeper } from '../../../libs/core/src/lease/store-worker-keeper.js';
import { type LeaseOptions, resolveLeaseOptions } from '../../../libs/core/src/lease/lease-options.js';
import type { LeaseHistory } from '../../../libs/core/src/lease/lease-history.js';
import { StoreSession } from '../../../libs/core/src/lease/store-session.js';
import type { Clock } from '../../../libs/core/src/ports.js';
import { VirtualTime } from './virtual-time.js';
import { FaultStore } from './fault-store.js';

/** A test makes thousands of refusals, and their stacks are never read; a global is slow to find in jest. */
const Errors = Error;

/** A database with a worker table in it, its clock, and what an operator or a failover may do to it. */
export class WorkerDatabase {
  readonly table = new MemoryWorkerTable();
  readonly time: VirtualTime;

  /** @param time its clock; a wall clock's value makes a new one */
  constructor(time: VirtualTime | number | string = '2026-03-01T12:00:00.000Z') {
    this.time = time instanceof VirtualTime ? time : new VirtualTime(time);
  }

  /** A database whose rows exist. */
  static async withRows(workers: WorkerRange, wall?: number | string): Promise<WorkerDatabase> {
    const database = new WorkerDatabase(wall);
    await new MemoryWorkerStore(database.table, () => database.time.wall).prepare(workers);
    return database;
  }

  /** What is in the table now, to go back to. */
  snapshot(): MemoryWorkerTable {
    const copy = new MemoryWorkerTable();
    this.restore(this.table, copy);
    return copy;
  }

  /** The database loses everything since `from` was taken, acknowledged or not. */
  restore(from: MemoryWorkerTable, to = this.table): void {
    to.rows.clear();
    from.rows.forEach((row, id) => to.rows.set(id, row));
    to.layouts.clear();
    to.deleted.clear();
    from.deleted.forEach((row, id) => to.deleted.set(id, row));
    from.layouts.forEach((layout) => to.layouts.add(layout));
    to.state = from.state;
  }

  row(id: number): WorkerRow {
    return this.table.rows.get(id)!;
  }

  /** Changes a row from outside, version or not as given. */
  change(id: number, change: Partial<WorkerRow>): void {
    this.table.rows.set(id, { ...this.row(id), ...change });
  }

  /** As the original's programs write: the version goes up, of ours nothing is known. */
  writeAsForeigner(id: number, code = '10.0.0.9#0#2#00:00'): void {
    this.change(id, { code, version: this.row(id).version + 1, heartbeatMs: this.time.wall });
  }

  advance(ms: number): Promise<void> {
    return this.time.advance(ms);
  }
}

export interface KeeperBenchOptions {
  /** A database of its own by default. */
  database?: WorkerDatabase;
  /** This host's wall clock; by default that of the database. */
  wall?: number | string;
  seed?: number;
  /** What differs from 41 bits of milliseconds, 3 worker bits and a range of 1-3. */
  layout?: Partial<LayoutOptions>;
  /** Instead of options. */
  resolved?: ResolvedLayout;
  /** Whether that layout was chosen because the store remembers none. */
  isFirstLayout?: boolean;
  lease?: LeaseOptions;
  generator?: GeneratorOptions;
  code?: string;
  /** Where its leases are recorded. */
  history?: LeaseHistory;
  /** False: the keeper does not learn what was issued. */
  reports?: boolean;
  /** What the generator reads in place of this host's clock. */
  clock?: (time: VirtualTime) => Clock;
  makeStore?: (database: WorkerDatabase, time: VirtualTime) => FaultStore;
  /** Told of every event as it happens. */
  onEvent?: (event: LeaseEvent) => unknown;
}

/** One process: a keeper and a generator, connected to a worker database with faults. */
export class KeeperBench {
  readonly database: WorkerDatabase;
  readonly time: VirtualTime;
  readonly resolved: ResolvedLayout;
  readonly store: FaultStore;
  readonly keeper: StoreWorkerKeeper;
  /** What the keeper was made with: for what takes a row without one. */
  readonly context: LeaseContext;
  readonly generator: SnowflakeGenerator;
  readonly events: LeaseEvent[] = [];
  /** All IDs that this process issued. */
  readonly issued: bigint[] = [];
  processId = 1;

  constructor(options: KeeperBenchOptions = {}) {
    this.database = options.database ?? new WorkerDatabase();
    this.time = this.database.time.another(options.wall, options.seed);
    const layout: LayoutOptions = {
      timeUnit: 'millisecond',
      startTimeStamp: '2024-01-01',
      timeStampLength: 41,
      workIdLength: 3,
      serviceMaxWorkId: 3,
      ...options.layout,
    };
    this.resolved = options.resolved ?? resolveLayout(layout, this.database.time.wall);
    this.store =
      options.makeStore?.(this.database, this.time) ??
      new FaultStore(this.database.table, this.time, this.database.time);
    const lease = resolveLeaseOptions(options.lease ?? {});
    const { monotonic, timers, randomness } = this.time;
    const clock = options.clock?.(this.time) ?? this.time.clock;
    this.context = {
      resolved: this.resolved,
      isFirstLayout: options.isFirstLayout ?? false,
      options: lease,
      identity: { code: options.code ?? 'a code', holder: 'a host', timeUnit: 1 },
      session: new StoreSession(this.store, timers, lease.opTimeoutMs),
      ports: { clock, monotonic, timers, randomness, processId: () => this.processId },
      history: options.history,
    };
    this.keeper = new StoreWorkerKeeper(this.context);
    this.keeper.onEvent((event) => this.events.push(event));
    if (options.onEvent !== undefined) this.keeper.onEvent(options.onEvent);
    const setup = { layout: this.resolved.layout, tenure: this.keeper, options: options.generator };
    this.generator = new SnowflakeGenerator(setup, { clock, monotonic, timers, randomness });
    if (options.reports ?? true) this.keeper.setHighestIssued((lane) => this.generator.highest(this.keeper, lane));
  }

  /** A process that has started. */
  static async started(options: KeeperBenchOptions = {}): Promise<KeeperBench> {
    const bench = new KeeperBench(options);
    await bench.keeper.start();
    return bench;
  }

  /** The worker id that is held, or undefined. */
  get workerId(): number | undefined {
    return this.keeper.status().workerId;
  }

  /** Issues an ID and answers with where it lies, as `tick:worker:lane:sequence`. */
  next(code?: string): string {
    return this.at(this.issue(code));
  }

  issue(code?: string): bigint {
    const id = this.generator.nextId(code);
    if (code === undefined) this.issued.push(id);
    return id;
  }

  at(id: bigint): string {
    const { tick, workerId, clockBack, sequence } = this.resolved.layout.unpack(id);
    return `${tick}:${workerId}:${clockBack}:${sequence}`;
  }

  /** The stable code of the error with which an ID is refused now; undefined when there is one. */
  refusal(): string | undefined {
    const { stackTraceLimit } = Errors;
    Errors.stackTraceLimit = 0;
    try {
      this.issue();
      return undefined;
    } catch (error) {
      return (error as { errorCode: string }).errorCode;
    } finally {
      Errors.stackTraceLimit = stackTraceLimit;
    }
  }

  /** What happened so far, by type, without renewals. */
  get story(): string[] {
    return this.events.map(({ type }) => type).filter((type) => type !== 'lease-renewed');
  }

  advance(ms: number): Promise<void> {
    return this.time.advance(ms);
  }

  /** kill -9: no timer fires, no answer arrives. */
  kill(): void {
    this.time.isStopped = true;
  }

  /** SIGSTOP. */
  pause(): void {
    this.time.isPaused = true;
  }

  /** SIGCONT. */
  resume(): void {
    this.time.wake();
  }
}

/**
 * A process and a copy of its memory. Until they part the copy does the same, by the same random choices, on a table of
 * its own; then it goes on with the table of the first. Both hold one token of one row and know nothing of each other.
 * @param begin what each of them does; both are awaited
 * @param ageMs how long they live before they part
 */
export async function twins(
  options: KeeperBenchOptions = {},
  ageMs = 0,
  begin: (bench: KeeperBench, isCopy: boolean) => Promise<void> = (bench) => bench.keeper.start(),
): Promise<[KeeperBench, KeeperBench]> {
  const database = new WorkerDatabase();
  const original = new KeeperBench({ seed: 7, ...options, database });
  const copy = new KeeperBench({ seed: 7, ...options, database: new WorkerDatabase(database.time) });
  await Promise.all([begin(original, false), begin(copy, true)]);
  await database.advance(ageMs);
  copy.store.attach(database.table);
  return [original, copy];
}
