import type { Layout, LeasePorts, WorkerStore } from '@raindrop/core';
import { DEFAULT_LAYOUT, findLayout, SnowflakeGenerator, StoreSession, withFoundLayout } from '@raindrop/core/internal';
import type { SqlDatabase } from '../database/sql-database.js';
import type { ResolvedSnowflakeOptions } from '../options/resolve-options.js';
import { logContext, type Logger } from '../ports/logger.js';
import type { WorkerSource } from '../ports/worker.js';
import { systemPorts } from '../system/system-ports.js';
import type { MakeCustom } from '../workers/make-assigner.js';
import { openReservingStore, reservingOf } from '../workers/open-worker-store.js';
import { openWorker, type WorkerContext } from '../workers/open-worker.js';
import { logLease, startLine } from './service-log.js';
import { SnowflakeEngine } from './snowflake-engine.js';

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
