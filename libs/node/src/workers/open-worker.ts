import { NoWorkerIdError } from '@raindrop/core/internal';
import type { ResolvedLeaseOptions, WorkerIdRequest, WorkerRange } from '@raindrop/core';
import { AssignedWorker } from './assigned-worker.js';
import { LeasedWorker } from './leased-worker.js';
import type { ReservingAssigner, Worker } from '../ports/worker.js';
import { workerIdentity } from '../system/worker-identity.js';
import { type AssignerPart, type AssignerUse, forgetsUse, isReserving } from '../options/assigner-options.js';
import { makeAssigner } from './make-assigner.js';
import { openStateFileWorker } from './open-state-file-worker.js';
import { openReservingStore } from './open-worker-store.js';
import { restartWaitOf, type WorkerContext } from './worker-context.js';

/**
 * The worker of the first assigner that has a worker id to give; a leased one has yet to be started.
 * @throws NoWorkerIdError when none has; what keeps an assigner from giving one
 */
export async function openWorker(context: WorkerContext): Promise<Worker> {
  const { parts, stateFile } = context.options.assigner;
  for (const part of parts) {
    const worker = await openPart(context, part, stateFile);
    if (worker !== undefined) return worker;
  }
  const names = parts.map(({ use }) => (typeof use === 'string' ? use : use.name));
  throw new NoWorkerIdError(names, names.includes('static') ? BY_HAND : '');
}

const BY_HAND = `'static' takes it from the argument --raindrop.workerId=7, the variable RAINDROP_WORKER_ID or the option workerId`;

async function openPart(
  context: WorkerContext,
  part: AssignerPart,
  stateFile: string | undefined,
): Promise<Worker | undefined> {
  if (isReserving(part.use)) return openLeased(context, part.use, part.workers);
  const { options, ports, onEvent } = context;
  const { layout } = options.layout;
  const assigner = await makeAssigner(part.use, context);
  const { holder } = workerIdentity({ ...options, unitMs: layout.unitMs });
  const request: WorkerIdRequest = { layout, workers: part.workers, holder };
  if (stateFile !== undefined && forgetsUse(assigner)) {
    return openStateFileWorker(context, assigner, request, stateFile);
  }
  const worker = new AssignedWorker(
    {
      ...{ assigner, request, opTimeoutMs: timeLimitOf(part.use, options.lease) },
      firstLane: options.layout.firstLane,
      restartWaitMs: restartWaitOf(assigner.guarantee, options.assigner),
    },
    ports,
  );
  worker.onEvent(onEvent);
  return (await worker.begin()) ? worker : undefined;
}

/** Creating a table and trying again take several statements, each with a limit of its own. */
function timeLimitOf(use: AssignerUse, { opTimeoutMs }: ResolvedLeaseOptions): number {
  return use === 'disposable' ? 10 * opTimeoutMs : opTimeoutMs;
}

function openLeased(context: WorkerContext, use: 'database' | ReservingAssigner, workers: WorkerRange): Worker {
  const { options, ports, onEvent, found } = context;
  const warn = (message: string): void => onEvent({ type: 'warning', message });
  const store = found?.store ?? openReservingStore(use, { ...context, warn });
  const name = use === 'database' ? use : use.name;
  const worker = new LeasedWorker(
    name,
    'reserved',
    { ...options, layout: { ...options.layout, workers } },
    store,
    ports,
    found?.isFirst,
  );
  worker.onEvent(onEvent);
  return worker;
}
