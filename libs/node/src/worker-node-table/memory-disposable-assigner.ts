import type { AssignedWorkerId, WorkerIdAssigner, WorkerIdRequest } from '@raindrop/core';
import { WorkerIdsUsedUpError } from './worker-ids-used-up-error.js';

/** What several {@link MemoryDisposableAssigner} share. */
export interface MemoryNodes {
  last: number;
}

/** The same in this process's memory, for databases that live there themselves. */
export class MemoryDisposableAssigner implements WorkerIdAssigner {
  readonly name = 'disposable';
  readonly guarantee = 'fresh';

  constructor(private readonly nodes: MemoryNodes) {}

  /** @throws WorkerIdsUsedUpError */
  acquire({ workers: { min, max } }: WorkerIdRequest): Promise<AssignedWorkerId> {
    const { nodes } = this;
    if (nodes.last >= max) return Promise.reject(new WorkerIdsUsedUpError("this process's memory", max, nodes.last));
    nodes.last = Math.max(nodes.last + 1, min);
    return Promise.resolve({ workerId: nodes.last });
  }
}
