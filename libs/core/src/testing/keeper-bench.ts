import type { GeneratorOptions } from '../generator/generator-options.js';
import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import { resolveLayout, type LayoutOptions } from '../layout/layout-options.js';
import type { ResolvedLayout } from '../layout/layout-usage.js';
import type { LeaseEvent } from '../lease/worker-keeper.js';
import { LeaseKeeper } from '../lease/lease-keeper.js';
import { resolveLeaseOptions, type LeaseOptions } from '../lease/lease-options.js';
import { StoreSession } from '../lease/store-session.js';
import { FaultStore } from './fault-store.js';
import type { Clock } from '../ports.js';
import type { VirtualTime } from './virtual-time.js';
import { WorkerDatabase } from './worker-database.js';

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
  readonly keeper: LeaseKeeper;
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
    const context = {
      resolved: this.resolved,
      isFirstLayout: options.isFirstLayout ?? false,
      options: lease,
      identity: { code: options.code ?? 'a code', holder: 'a host', timeUnit: 1 },
      session: new StoreSession(this.store, timers, lease.opTimeoutMs),
      ports: { clock, monotonic, timers, randomness, processId: () => this.processId },
    };
    this.keeper = new LeaseKeeper(context, (event) => {
      this.events.push(event);
      return options.onEvent?.(event);
    });
    const setup = { layout: this.resolved.layout, tenure: this.keeper, options: options.generator };
    this.generator = new SnowflakeGenerator(setup, { clock, monotonic, timers, randomness });
    if (options.reports ?? true) this.keeper.reportedBy((lane) => this.generator.highest(this.keeper, lane));
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
    try {
      this.issue();
      return undefined;
    } catch (error) {
      return (error as { errorCode: string }).errorCode;
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
