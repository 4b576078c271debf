import { showValue } from '../show-value.js';
import type { LeasePorts } from '../lease/lease-context.js';
import type { AssignedWorkerId, WorkerIdAssigner, WorkerIdRequest } from './worker-id-assigner.js';
import { WorkerIdAssignerError } from './worker-id-errors.js';

const MAX_LEASE_MS = 86_400_000;

/** Calls an assigner, which may be anybody's: each call has a deadline, and each answer is checked. */
export class AssignerCalls {
  constructor(
    private readonly assigner: WorkerIdAssigner,
    private readonly request: WorkerIdRequest,
    private readonly ports: Pick<LeasePorts, 'timers'>,
    private readonly timeoutMs: number,
  ) {}

  /** @throws WorkerIdAssignerError */
  async acquire(): Promise<AssignedWorkerId | undefined> {
    const asked = this.ask('acquire', () => this.assigner.acquire(this.request));
    const assigned = await this.inTime('acquire', asked, (late) => late !== undefined && void this.release(late));
    if (assigned === undefined) return undefined;
    try {
      return this.checked(assigned);
    } catch (error) {
      await this.release(assigned);
      throw error;
    }
  }

  /** @throws WorkerIdAssignerError */
  async renew(held: AssignedWorkerId): Promise<AssignedWorkerId | undefined> {
    if (this.assigner.renew === undefined) {
      throw new WorkerIdAssignerError(this.assigner.name, 'it gives ids with a lease and has no renew()', false);
    }
    const renewed = await this.inTime(
      'renew',
      this.ask('renew', () => this.assigner.renew!(held)),
    );
    return renewed === undefined ? undefined : this.checked(renewed);
  }

  /** Never rejects: what cannot be given back comes free as the assigner sees to it. */
  async release(assigned: AssignedWorkerId): Promise<void> {
    const released = this.ask('release', async () => this.assigner.release?.(assigned));
    await this.inTime('release', released).catch(() => undefined);
  }

  private checked(assigned: AssignedWorkerId): AssignedWorkerId {
    const { min, max } = this.request.workers;
    const { workerId, leaseMs, warnings } = (assigned ?? {}) as Partial<AssignedWorkerId>;
    if (!Number.isInteger(workerId) || workerId! < min || workerId! > max) {
      const legal = `serviceMinWorkId..serviceMaxWorkId is ${min}..${max}`;
      throw new WorkerIdAssignerError(
        this.assigner.name,
        `it answered worker id ${showValue(workerId)}; ${legal}`,
        false,
      );
    }
    if (warnings !== undefined && !(Array.isArray(warnings) && warnings.every((each) => typeof each === 'string'))) {
      throw new WorkerIdAssignerError(this.assigner.name, 'it answered warnings that are no list of texts', false);
    }
    if (leaseMs !== undefined && !(typeof leaseMs === 'number' && leaseMs >= 100 && leaseMs <= MAX_LEASE_MS)) {
      const legal = `leaseMs must be from 100 to ${MAX_LEASE_MS}, or left out`;
      throw new WorkerIdAssignerError(this.assigner.name, `it answered leaseMs ${showValue(leaseMs)}; ${legal}`, false);
    }
    return assigned;
  }

  /** What is thrown at once and what is rejected come out alike. */
  private async ask<T>(what: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw WorkerIdAssignerError.of(this.assigner.name, what, error);
    }
  }

  private async inTime<T>(what: string, call: Promise<T>, late?: (answer: T) => void): Promise<T> {
    let isLate = false;
    let expire!: () => void;
    const deadline = new Promise<never>((_, reject) => {
      expire = () => {
        isLate = true;
        reject(
          new WorkerIdAssignerError(this.assigner.name, `no answer to ${what}() within ${this.timeoutMs} ms`, true),
        );
      };
    });
    const timer = this.ports.timers.setTimer(() => expire(), this.timeoutMs, 'foreground');
    call.then(
      (answer) => isLate && late?.(answer),
      () => undefined,
    );
    try {
      return await Promise.race([call, deadline]);
    } finally {
      timer.cancel();
    }
  }
}
