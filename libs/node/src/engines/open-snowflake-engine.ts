import { DEFAULT_LAYOUT, findLayout, SnowflakeGenerator, StoreSession, withFoundLayout } from '@raindrop/core/internal';
import type { Layout, LeasePorts, WorkerStore } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../options/snowflake-options.js';
import { systemPorts } from '../system/system-ports.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { logContext, type Logger } from '../ports/logger.js';
import type { MakeCustom } from '../workers/make-assigner.js';
import { openReservingStore } from '../workers/open-reserving-store.js';
import { openWorker } from '../workers/open-worker.js';
import { reservingOf } from '../workers/reserving-of.js';
import type { WorkerContext } from '../workers/worker-context.js';
import { logLease } from './lease-log.js';
import { SnowflakeEngine } from './snowflake-engine.js';
import { startLine } from './start-line.js';
import type { Worker } from '../ports/worker.js';

/** What a snowflake engine is opened with, besides its options. */
export interface SnowflakeSurroundings {
  readonly name: string;
  /** The application's, where the options name none. */
  readonly database: SqlDatabase | undefined;
  readonly logger: Logger;
  readonly makeCustom: MakeCustom;
  /** Is told the layout before a worker id is taken; what it throws ends the start. */
  readonly onLayout?: (layout: Layout) => void;
  /** For tests: the layout of a store that has served none, where the options name none either. */
  readonly firstLayout?: Layout | undefined;
}

/**
 * A generator with a worker id that it may issue with. Options that name no layout take that of the store of worker ids.
 * @throws what keeps it from getting one
 */
export async function openSnowflakeEngine(
  options: ResolvedSnowflakeOptions,
  surroundings: SnowflakeSurroundings,
): Promise<SnowflakeEngine> {
  const { name, database, logger, makeCustom, firstLayout = DEFAULT_LAYOUT } = surroundings;
  const ports = systemPorts(options.clock);
  const context = { options, ports, database, makeCustom, onEvent: logLease(logger, name) };
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
  onLayout?.(options.layout.layout);
  const worker = await openWorker(context);
  const generator = new SnowflakeGenerator(
    { layout: options.layout.layout, tenure: worker.tenure, options: options.generator },
    ports,
  );
  await worker.start(generator);
  logger.log(startLine(options.layout, ports.clock.now()), logContext(name));
  for (const message of warningsOf(options, worker)) logger.warn(message, logContext(name));
  return new SnowflakeEngine(generator, worker);
}

function openStore({ options, ports, database, onEvent }: WorkerContext & { readonly ports: LeasePorts }): WorkerStore {
  const warn = (message: string): void => onEvent({ type: 'warning', message });
  return openReservingStore(reservingOf(options, 'remembers no layout'), { options, ports, database, warn });
}

/** A worker closes it too: once more does no harm. */
async function closedOnFailure<T>(store: WorkerStore, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** What works, and should be looked at before it is relied on. */
function warningsOf(options: ResolvedSnowflakeOptions, worker: Worker): string[] {
  const warnings = options.layout.warnings.map(({ message }) => message);
  const { assigner, guarantee, tenure } = worker;
  if (guarantee === 'declared') {
    warnings.push(`worker ${tenure.workerId} was given by hand (${assigner}): nothing checks that it is the only one`);
  }
  return warnings;
}
