import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import {
  AssignedWorkerKeeper,
  AssignerCalls,
  resolveLeaseOptions,
  RestartWait,
  StoreSession,
  StoreWorkerKeeper,
  type LeaseHistory,
  type Worker,
} from '@raindrop/core/internal';
import {
  ConfigurationError,
  type LeaseEvent,
  type LeaseIdentity,
  type LeasePorts,
  type ResolvedLeaseOptions,
  TIME_UNITS,
  type WorkerIdAssigner,
  type WorkerIdGuarantee,
  type WorkerIdRequest,
  type WorkerStore,
  NotReadyError,
  NoWorkerIdError,
} from '@raindrop/core';
import { databaseOf } from '../database/application-database.js';
import type { SqlDatabase } from '../database/sql-database.js';
import {
  type AssignerPart,
  type AssignerUse,
  forgets,
  isReserving,
  LONG_UNIT_MS,
  nameOfUse,
  type ResolvedAssignerOptions,
} from '../options/assigner-options.js';
import type { ResolvedSnowflakeOptions } from '../options/resolve-options.js';
import { DEFAULT_SERVICE } from '../ports/logger.js';
import type { ReservingAssigner, WorkerSource } from '../ports/worker.js';
import { FileWorkerStore, stateFileLease } from '../state-file/file-worker-store.js';
import { SqlLeaseHistory } from '../worker-table/sql-lease-history.js';
import { makeAssigner, type MakeCustom } from './make-assigner.js';
import { openReservingStore } from './open-worker-store.js';

/** The error for a start without any worker id ends with this where `static` was asked. */
const STATIC_PLACES = `'static' reads it from the argument --raindrop.workerId=7, the variable RAINDROP_WORKER_ID or the option workerId`;

/** How far the clocks of two hosts between which a worker id moves may be apart, ms: with NTP it is some ms. */
const BETWEEN_HOSTS_MS = 1_000;

/** The inputs of a worker. */
export interface WorkerContext {
  readonly options: ResolvedSnowflakeOptions;
  readonly ports: LeasePorts;
  /** The application's database, where the options name none. */
  readonly database: SqlDatabase | undefined;
  readonly makeCustom: MakeCustom;
  /** The name of the service, for the worker history. Default `default`. */
  readonly service?: string;
  /** Hears of each event of the worker, from the acquire on. */
  readonly onEvent: (event: LeaseEvent) => void;
  /** The store in which the layout was found, when the options name no layout. */
  readonly found?: FoundLayout | undefined;
}

/** A store that is open already, because the layout was read from it. */
interface FoundLayout {
  readonly store: WorkerStore;
  /** True when the store remembers no layout: no ID was issued with this one before. */
  readonly isFirst: boolean;
}

/** A worker that has yet to be started, and where its id comes from. */
interface OpenedWorker {
  readonly worker: Worker;
  readonly source: WorkerSource;
}

/**
 * Asks the assigners of the options in their order, and takes the worker of the first one that has an id. A leased
 * worker asks its store when it is started.
 * @throws NoWorkerIdError when no assigner has an id; what an assigner throws
 */
export async function openWorker(context: WorkerContext): Promise<OpenedWorker> {
  const { parts } = context.options.assigner;
  for (const part of parts) {
    const opened = await openPart(context, part);
    if (opened !== undefined) return opened;
  }
  const names = parts.map(({ use }) => nameOfUse(use));
  throw new NoWorkerIdError(names, names.includes('static') ? STATIC_PLACES : '');
}

/** Undefined when this assigner has no id to give. */
async function openPart(context: WorkerContext, { use, workers }: AssignerPart): Promise<OpenedWorker | undefined> {
  if (isReserving(use)) return openLeased(context, use, workers);
  const { options } = context;
  const { layout } = options.layout;
  const assigner = await makeAssigner(use, context);
  const { holder } = workerIdentity({ ...options, unitMs: layout.unitMs });
  const request: WorkerIdRequest = { layout, workers, holder };
  const { stateFile } = options.assigner;
  return stateFile !== undefined && forgets(assigner)
    ? openWithStateFile(context, assigner, request, stateFile)
    : openAssigned(context, use, assigner, request);
}

/** A worker id leased from a store that keeps odometers. */
function openLeased(
  context: WorkerContext,
  use: 'database' | ReservingAssigner,
  workers: AssignerPart['workers'],
): OpenedWorker {
  const { options, ports, onEvent, found } = context;
  const warn = (message: string): void => onEvent({ type: 'warning', message });
  const store = found?.store ?? openReservingStore(use, { ...context, warn });
  const worker = leaseWorker(
    { ...options, layout: { ...options.layout, workers } },
    {
      store,
      ports,
      isFirstLayout: found?.isFirst ?? false,
      history: use === 'database' ? historyOf(context) : undefined,
    },
  );
  worker.onEvent(onEvent);
  return { worker, source: { assigner: nameOfUse(use), guarantee: 'reserved' } };
}

/** The history of a service with the option `workerHistory`. */
function historyOf({ options, database: ofApplication, service, onEvent }: WorkerContext): LeaseHistory | undefined {
  const { workerHistory, tableName, autoCreateTable, hashCode, layout, lease } = options;
  if (workerHistory === undefined) return undefined;
  const warn = (message: string): void => onEvent({ type: 'warning', message });
  const database = databaseOf(options, ofApplication);
  if (database === undefined) {
    warn('workerHistory records nothing in a database in memory');
    return undefined;
  }
  const { code } = workerIdentity({ ...options, ...lease, unitMs: layout.layout.unitMs });
  return new SqlLeaseHistory(database, {
    tableName,
    autoCreateTable,
    opTimeoutMs: lease.opTimeoutMs,
    keepDays: workerHistory.keepDays,
    warn,
    process: () => ({
      service: service ?? DEFAULT_SERVICE,
      host: hashCode ? '' : hostnameOrNone(),
      pod: hashCode ? '' : (process.env['POD_NAME'] ?? ''),
      pid: process.pid,
      code,
    }),
  });
}

/** '' where the system does not tell. */
function hostnameOrNone(): string {
  try {
    return hostname();
  } catch {
    return '';
  }
}

interface LeaseSurroundings {
  readonly store: WorkerStore;
  readonly ports: LeasePorts;
  readonly isFirstLayout?: boolean;
  /** Where each lease is recorded; left out where no history is kept. */
  readonly history?: LeaseHistory | undefined;
}

/** Makes the keeper of a worker id that is leased from a store; the keeper closes the store. */
export function leaseWorker(
  options: Pick<ResolvedSnowflakeOptions, 'layout' | 'lease' | 'servicePort' | 'hashCode'>,
  { store, ports, isFirstLayout = false, history }: LeaseSurroundings,
): StoreWorkerKeeper {
  const { layout: resolved, lease } = options;
  return new StoreWorkerKeeper({
    resolved,
    isFirstLayout,
    ports,
    history,
    options: lease,
    identity: workerIdentity({ ...options, ...lease, unitMs: resolved.layout.unitMs }),
    session: new StoreSession(store, ports.timers, lease.opTimeoutMs),
  });
}

/** A worker id of an assigner that keeps no odometers, and no file that does. */
async function openAssigned(
  { options, ports, onEvent }: WorkerContext,
  use: AssignerUse,
  assigner: WorkerIdAssigner,
  request: WorkerIdRequest,
): Promise<OpenedWorker | undefined> {
  const { guarantee, name } = assigner;
  const { firstLane } = options.layout;
  const restartWaitMs = restartWaitOf(guarantee, options.assigner);
  const opTimeoutMs = timeLimitOf(use, options.lease);
  const worker = new AssignedWorkerKeeper({ assigner, request, firstLane, restartWaitMs, opTimeoutMs }, ports);
  worker.onEvent(onEvent);
  return (await worker.acquire()) ? { worker, source: { assigner: name, guarantee } } : undefined;
}

/** `disposable` may create its table and try again: several statements, each with a limit of its own. */
function timeLimitOf(use: AssignerUse, { opTimeoutMs }: ResolvedLeaseOptions): number {
  return use === 'disposable' ? 10 * opTimeoutMs : opTimeoutMs;
}

/**
 * A worker id of an assigner that keeps no odometers, with a file that does: the same lease as in a database, on a
 * table of this host alone.
 * @returns undefined when the assigner has no id to give
 * @throws ConfigurationError for an id that is only lent: it may come back on another host, where the file is not
 */
async function openWithStateFile(
  context: WorkerContext,
  assigner: WorkerIdAssigner,
  request: WorkerIdRequest,
  stateFile: string,
): Promise<OpenedWorker | undefined> {
  const { options, ports, onEvent } = context;
  const { waitForWorkerMs, opTimeoutMs } = options.lease;
  const assigned = await new AssignerCalls(assigner, request, ports, opTimeoutMs).acquire();
  if (assigned === undefined) return undefined;
  if (assigned.leaseMs !== undefined) {
    const message = `is for worker ids that stay on a host, but '${assigner.name}' leases them for ${assigned.leaseMs} ms`;
    throw new ConfigurationError([{ option: 'stateFile', given: JSON.stringify(stateFile), message }]);
  }
  if (!(await exists(stateFile))) await waitForRunsWithoutFile(context, assigner, request);
  const workers = { min: assigned.workerId, max: assigned.workerId };
  const lease = { ...resolveLeaseOptions(stateFileLease), ...(waitForWorkerMs > 0 && { waitForWorkerMs }) };
  const worker = leaseWorker(
    { ...options, layout: { ...options.layout, workers }, lease },
    { store: new FileWorkerStore({ path: stateFile }), ports },
  );
  worker.onEvent(onEvent);
  for (const message of assigned.warnings ?? []) onEvent({ type: 'warning', message });
  return { worker, source: { assigner: `${assigner.name} + stateFile`, guarantee: assigner.guarantee } };
}

/**
 * The last run of this service may have had no state file yet: the first start with one waits as a start without one
 * does. A layout in hours or days waits for nothing, because such a wait would take as long as a tick.
 */
async function waitForRunsWithoutFile(
  { options, ports }: WorkerContext,
  { guarantee }: WorkerIdAssigner,
  { layout }: WorkerIdRequest,
): Promise<void> {
  const waitMs = layout.unitMs >= LONG_UNIT_MS ? false : restartWaitOf(guarantee, options.assigner);
  const wait = new RestartWait(layout, waitMs, ports.clock.refresh());
  if (!(await wait.pass(ports, () => false))) throw new NotReadyError('the clock does not advance');
}

/** How far ahead of the clock the last holder of a worker id may have issued, ms; false when there was none. */
function restartWaitOf(guarantee: WorkerIdGuarantee, options: ResolvedAssignerOptions): number | false {
  if (guarantee === 'fresh') return false;
  return options.restartWaitMs ?? options.borrowMs + (guarantee === 'exclusive' ? BETWEEN_HOSTS_MS : 0);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Names this process as the holder of a worker row, for people and for the original's programs. Uniqueness does not
 * rest on it.
 *
 * The code has the original's form, `{ip}#{servicePort}#{unit}#{mac}`, or is a hash of it. On a table that is shared
 * with the original it ends with `#raindrop`: with `PriorityEqualCodeWorkId` the original takes a row of its own code,
 * even while another process holds it.
 */
export function workerIdentity(options: {
  readonly servicePort: number;
  readonly unitMs: number;
  readonly hashCode: boolean;
  readonly sharedWithOriginal?: boolean;
}): LeaseIdentity {
  const timeUnit = Object.values(TIME_UNITS).find(({ ms }) => ms === options.unitMs)?.number ?? 0;
  const { address, mac } = firstInterface();
  const originals = `${address}#${options.servicePort}#${timeUnit}#${mac}`;
  const code = options.sharedWithOriginal === true ? `${originals}#raindrop` : originals;
  const holder = options.hashCode ? `pid ${process.pid}` : `${hostname()}, pid ${process.pid}`;
  return {
    code: options.hashCode ? createHash('sha256').update(code).digest('hex') : code,
    holder: holder.slice(0, 160),
    timeUnit,
  };
}

function firstInterface(): { address: string; mac: string } {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outside = all.filter(({ internal }) => !internal);
  const chosen = outside.find(({ family }) => family === 'IPv4') ?? outside[0] ?? all[0];
  return { address: chosen?.address ?? 'localhost', mac: chosen?.mac ?? '' };
}
