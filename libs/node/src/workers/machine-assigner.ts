import { hostname, networkInterfaces } from 'node:os';
import { machineProcessWorkerId, machineText } from '@raindrop/core/internal';
import type { AssignedWorkerId, WorkerIdAssigner, WorkerIdRequest } from '@raindrop/core';
import { collisionWarning } from './collision-warning.js';
import { foldIntoRange } from './fold-into-range.js';

/**
 * Process bits above machine bits, as KeyWorker has them: the low bits of the process id, and a hash of the host's name and
 * of its interfaces. What falls outside the service's range is folded into it.
 *
 * Unsafe: chance decides, and in containers all process ids are small.
 */
export class MachineAssigner implements WorkerIdAssigner {
  readonly name = 'machine';
  readonly guarantee = 'unsafe';

  acquire({ layout, workers }: WorkerIdRequest): Promise<AssignedWorkerId> {
    const interfaces = machineText(hostname(), networkInterfaces());
    const workerBits = Math.log2(layout.maxWorkerId + 1);
    const drawn = machineProcessWorkerId({ interfaces, processId: process.pid, workerBits });
    const workerId = foldIntoRange(drawn, workers);
    const source = `interfaces and process ${process.pid}`;
    return Promise.resolve({ workerId, warnings: [collisionWarning(workerId, source, workers)] });
  }
}
