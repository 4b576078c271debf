import { access } from 'node:fs/promises';
import { AssignerCalls, NotReadyError, resolveLeaseOptions, RestartWait } from '@raindrop/core/internal';
import { ConfigurationError, type WorkerIdAssigner, type WorkerIdRequest } from '@raindrop/core';
import { LeasedWorker } from './leased-worker.js';
import type { Worker } from '../ports/worker.js';
import { FileWorkerStore, stateFileLease } from '../state-file/file-worker-store.js';
import { LONG_UNIT_MS } from '../options/assigner-options.js';
import { restartWaitOf, type WorkerContext } from './worker-context.js';

/**
 * A worker id of an assigner that keeps no odometers, with a file that does: the same lease as in a database, on a table of
 * this host alone. Undefined when the assigner has no worker id to give.
 * @throws ConfigurationError for an id that is only lent: it may come back on another host, where the file is not
 */
export async function openStateFileWorker(
  context: WorkerContext,
  assigner: WorkerIdAssigner,
  request: WorkerIdRequest,
  stateFile: string,
): Promise<Worker | undefined> {
  const { options, ports, onEvent } = context;
  const { waitForWorkerMs, opTimeoutMs } = options.lease;
  const assigned = await new AssignerCalls(assigner, request, ports, opTimeoutMs).acquire();
  if (assigned === undefined) return undefined;
  if (assigned.leaseMs !== undefined) {
    const message = `is for worker ids that stay on a host, and '${assigner.name}' lends them for ${assigned.leaseMs} ms`;
    throw new ConfigurationError([{ option: 'stateFile', given: JSON.stringify(stateFile), message }]);
  }
  if (!(await exists(stateFile))) await letRunsWithoutFilePass(context, assigner, request);
  const workers = { min: assigned.workerId, max: assigned.workerId };
  const lease = { ...resolveLeaseOptions(stateFileLease), ...(waitForWorkerMs > 0 && { waitForWorkerMs }) };
  const worker = new LeasedWorker(
    `${assigner.name} + stateFile`,
    assigner.guarantee,
    { ...options, layout: { ...options.layout, workers }, lease },
    new FileWorkerStore({ path: stateFile }),
    ports,
  );
  worker.onEvent(onEvent);
  for (const message of assigned.warnings ?? []) onEvent({ type: 'warning', message });
  return worker;
}

/** The last run may have had no file yet. Not for hours and days: nobody waits that long for what hardly ever is. */
async function letRunsWithoutFilePass(
  { options, ports }: WorkerContext,
  { guarantee }: WorkerIdAssigner,
  { layout }: WorkerIdRequest,
): Promise<void> {
  const waitMs = layout.unitMs >= LONG_UNIT_MS ? false : restartWaitOf(guarantee, options.assigner);
  const wait = new RestartWait(layout, waitMs, ports.clock.refresh());
  if (!(await wait.pass(ports, () => false))) throw new NotReadyError('the clock does not move on');
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
