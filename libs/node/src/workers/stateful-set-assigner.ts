import { hostname } from 'node:os';
import { WorkerIdAssignerError } from '@raindrop/core/internal';
import type { AssignedWorkerId, WorkerIdAssigner, WorkerIdRequest } from '@raindrop/core';

/**
 * The ordinal of a pod of a Kubernetes StatefulSet, from the variable `POD_NAME` or the host's name: `orders-3` is the
 * service's lowest worker id + 3. Kubernetes runs one pod of an ordinal at a time, unless one is deleted by force.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#ordinal-index
 */
export class StatefulSetAssigner implements WorkerIdAssigner {
  readonly name = 'statefulSet';
  readonly guarantee = 'exclusive';

  constructor(private readonly podName: () => string = () => process.env['POD_NAME'] || hostname()) {}

  /** @throws WorkerIdAssignerError when the ordinal lies outside the service's range */
  acquire({ workers }: WorkerIdRequest): Promise<AssignedWorkerId | undefined> {
    const pod = this.podName();
    const ordinal = /-(\d{1,9})$/.exec(pod)?.[1];
    if (ordinal === undefined) return Promise.resolve(undefined);
    const workerId = workers.min + Number(ordinal);
    if (workerId <= workers.max) return Promise.resolve({ workerId });
    const room = workers.max - workers.min + 1;
    const reason = `pod '${pod}' has ordinal ${ordinal}, and ${workers.min}..${workers.max} is room for ${room} pods`;
    return Promise.reject(new WorkerIdAssignerError(this.name, reason, false));
  }
}
