import type { EventEmitter } from 'node:events';
import type { Layout, LeaseEvent, LeasePorts, ResolvedLayout, WorkerStore } from '@raindrop/core';
import {
  daysUntil,
  DEFAULT_LAYOUT,
  findLayout,
  SnowflakeGenerator,
  StoreSession,
  wallClock,
  withFoundLayout,
  type Worker,
} from '@raindrop/core/internal';
import type { IdEngine, SnowflakeServiceStatus } from '../ports/id-engine.js';
import { emitSafely } from '../system/listeners.js';
import type { WorkerSource } from '../ports/worker.js';
import { monotonicClock, systemPorts } from '../system/system-ports.js';
import type { ResolvedSnowflakeOptions } from '../options/resolve-options.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { logContext, type Logger } from '../ports/logger.js';
import type { MakeCustom } from '../workers/make-assigner.js';
import { openReservingStore, reservingOf } from '../workers/open-worker-store.js';
import { openWorker, type WorkerContext } from '../workers/open-worker.js';

/** Two renewals may be only some milliseconds apart. The load is measured over this time at least, ms. */
const SHORTEST_MS = 1_000;

/** A generator of snowflakes, and the worker whose id they bear. */
export class SnowflakeEngine implements IdEngine {
  readonly sharded = undefined;
  private readonly saturation: Saturation;

  constructor(
    readonly calls: SnowflakeGenerator,
    private readonly worker: Worker,
    private readonly source: WorkerSource,
  ) {
    this.saturation = new Saturation(calls.layout.idsPerSecond, monotonicClock.now());
  }

  get layout(): Layout {
    return this.calls.layout;
  }

  emitTo(events: EventEmitter): void {
    this.worker.onEvent((event) => {
      if (event.type === 'lease-renewed') this.saturation.measure(this.calls.counters.issued, monotonicClock.now());
      emitSafely(events, event);
    });
  }

  status(service: string): SnowflakeServiceStatus {
    const { expiresAt, fingerprint } = this.layout;
    const daysLeft = daysUntil(expiresAt, wallClock.now());
    const saturation = this.saturation.share;
    const { counters } = this.calls;
    const { assigner, guarantee } = this.source;
    return {
      ...{ service, idMode: 'snowflake', assigner, guarantee, fingerprint, expiresAt, daysLeft, saturation },
      ...this.worker.status(),
      counters,
    };
  }

  afterRestore(): void {
    this.worker.afterRestore();
  }

  close(): Promise<void> {
    return this.worker.close();
  }
}

/**
 * How much of its capacity a worker used between the last two renewals that were at least a second apart: the IDs
 * issued, as a share of what the layout allows one code in that time. Example: 8,000 IDs in 2 s, and a layout of
 * 4,096,000 IDs a second and code, are 0.001. Each renewal measures it, so it needs no timer, and all readers see the
 * same value.
 */
export class Saturation {
  /** Null before the first measurement; above 1 when several codes together issued more than one code can. */
  share: number | null = null;

  private issuedBefore = 0;
  private measuredMs: number;

  constructor(
    private readonly idsPerSecond: number,
    nowMs: number,
  ) {
    this.measuredMs = nowMs;
  }

  /**
   * @param issued IDs issued since the start
   * @param nowMs monotonic
   */
  measure(issued: number, nowMs: number): void {
    const elapsedMs = nowMs - this.measuredMs;
    if (elapsedMs < SHORTEST_MS) return;
    this.share = ((issued - this.issuedBefore) * 1_000) / (elapsedMs * this.idsPerSecond);
    this.issuedBefore = issued;
    this.measuredMs = nowMs;
  }
}

/** The inputs of a snowflake engine besides its options. */
export interface SnowflakeSurroundings {
  readonly name: string;
  /** The application's database, where the options name none. */
  readonly database: SqlDatabase | undefined;
  readonly logger: Logger;
  readonly makeCustom: MakeCustom;
  /** Awaited with the layout before a worker id is acquired; what it throws ends the start. */
  readonly onLayout?: (layout: Layout) => Promise<void>;
  /** For tests: the layout that is taken where the options name none and the store remembers none. */
  readonly firstLayout?: Layout | undefined;
}

/**
 * Opens a generator with a worker id that it may issue with. Where the options name no layout, the store of worker ids
 * says which one is in use.
 * @throws the error that keeps it from getting a worker id
 */
export async function openSnowflakeEngine(
  options: ResolvedSnowflakeOptions,
  surroundings: SnowflakeSurroundings,
): Promise<SnowflakeEngine> {
  const { name, database, logger, makeCustom, firstLayout = DEFAULT_LAYOUT } = surroundings;
  const ports = systemPorts(options.clock);
  const context = { options, ports, database, makeCustom, service: name, onEvent: logLease(logger, name) };
  const { withLayout } = options;
  if (withLayout === undefined) return openWith(context, surroundings);
  let store: WorkerStore;
  return withFoundLayout(
    () => {
      store = openStore(context);
      return closedOnFailure(store, () => {
        const session = new StoreSession(store, ports.timers, options.lease.opTimeoutMs);
        return findLayout({ session, options: options.lease, ports, first: firstLayout });
      });
    },
    ({ layout, isFirst }) => {
      const found = { store, isFirst };
      return closedOnFailure(store, () => openWith({ ...context, options: withLayout(layout), found }, surroundings));
    },
    ports,
  );
}

async function openWith(context: WorkerContext, surroundings: SnowflakeSurroundings): Promise<SnowflakeEngine> {
  const { name, logger, onLayout } = surroundings;
  const { options, ports } = context;
  await onLayout?.(options.layout.layout);
  const { worker, source } = await openWorker(context);
  const generator = new SnowflakeGenerator(
    { layout: options.layout.layout, tenure: worker, options: options.generator },
    ports,
  );
  worker.setHighestIssued((lane) => generator.highest(worker, lane));
  await worker.start();
  logger.log(startLine(options.layout, ports.clock.now()), logContext(name));
  for (const message of warningsOf(options, worker.workerId, source)) logger.warn(message, logContext(name));
  return new SnowflakeEngine(generator, worker, source);
}

function openStore({ options, ports, database, onEvent }: WorkerContext & { readonly ports: LeasePorts }): WorkerStore {
  const warn = (message: string): void => onEvent({ type: 'warning', message });
  return openReservingStore(reservingOf(options, 'remembers no layout'), { options, ports, database, warn });
}

/** Closes the store when the work fails. A worker that has the store closes it as well; a second close does nothing. */
async function closedOnFailure<T>(store: WorkerStore, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Warnings for the operator of a service that works. */
function warningsOf(
  options: ResolvedSnowflakeOptions,
  workerId: number,
  { assigner, guarantee }: WorkerSource,
): string[] {
  const warnings = options.layout.warnings.map(({ message }) => message);
  if (guarantee === 'declared') {
    warnings.push(`worker ${workerId} was set by hand (${assigner}): nothing ensures that it is unique`);
  }
  return warnings;
}

/** Writes the events of a lease to the log. A failure that repeats at each attempt is written once. */
export function logLease(logger: Logger, service: string): (event: LeaseEvent) => void {
  const context = logContext(service);
  let lastTrouble: string | undefined;
  return (event) => {
    if (event.type !== 'lease-trouble') {
      lastTrouble = undefined;
    } else if (event.error.errorCode === lastTrouble) {
      return;
    } else lastTrouble = event.error.errorCode;
    switch (event.type) {
      case 'lease-acquired':
        return void logger.log(`Worker ${event.workerId} acquired`, context);
      case 'lease-regained':
        return void logger.log(`Worker ${event.workerId} is held again`, context);
      case 'lease-released':
        return void logger.log(`Worker ${event.workerId} released`, context);
      case 'lease-renewed':
        // Renewals come every few seconds, and Nest logs all levels by default: an application can listen to the event.
        return;
      case 'lease-lost':
        return void logger.error(
          `Worker ${event.workerId} lost: ${event.reason}. No IDs until a worker is acquired`,
          undefined,
          context,
        );
      case 'lease-suspect':
        return void logger.warn(`Worker ${event.workerId} must confirm its lease: ${event.reason}`, context);
      case 'clock-back':
        return void logger.warn(`The clock went back; worker ${event.workerId} changed to lane ${event.lane}`, context);
      case 'database-regression':
        return void logger.error(event.error.message, undefined, context);
      case 'lease-trouble':
        return void logger.warn(event.error.message, context);
      case 'warning':
        return void logger.warn(event.message, context);
    }
  };
}

/** The log's line at a start: how long the layout lasts, how many IDs a second it allows, and how many workers. */
function startLine({ layout, workers }: ResolvedLayout, nowMs: number): string {
  const { expiresAt, safeUntil, idsPerSecond, fingerprint } = layout;
  const count = workers.max - workers.min + 1;
  const isExact = safeUntil !== null && safeUntil.getTime() > nowMs;
  const numbers = isExact
    ? `, exact JavaScript numbers ${isSame(safeUntil, expiresAt) ? 'all the time' : until(safeUntil)}`
    : '';
  return (
    `IDs ${until(expiresAt)}${numbers}; ${shown(idsPerSecond)} a second and process; ` +
    `${shown(count)} worker id${count === 1 ? '' : 's'} (layout ${fingerprint})`
  );
}

function until(moment: Date | null): string {
  return moment === null ? 'beyond the year 275760' : `until ${moment.toISOString().slice(0, 10)}`;
}

function isSame(one: Date, other: Date | null): boolean {
  return one.getTime() === other?.getTime();
}

/** Layouts in coarse units allow less than one ID a second: those keep two digits, such as 0.28. */
function shown(count: number): string {
  return count.toLocaleString('en-US', { maximumSignificantDigits: count < 10 ? 2 : 21 });
}
