import { Deadline } from '../async.js';
import type { WorkerRange } from '../layout/layout-options.js';
import type { Layout } from '../layout/layout.js';
import type { LeasePorts } from '../lease/lease-context.js';
import { PermanentError, RaindropError } from '../raindrop-error.js';
import { showValue } from '../show-value.js';

/**
 * The guarantee that an assigner gives for its worker ids.
 *
 * - `fresh`: no other process has ever had the id, and none will have it again.
 * - `exclusive`: no other process has the id until it is released or its lease ends; one may have had it before.
 * - `declared`: the operator who configured the id says that it is exclusive; nothing checks it.
 * - `unsafe`: another process may have the id at this moment.
 *
 * No guarantee says how far a former holder has issued. Only worker stores know: see {@link WorkerStore} and its
 * odometers.
 */
export type WorkerIdGuarantee = 'fresh' | 'exclusive' | 'declared' | 'unsafe';

/** A request for a worker id. */
export interface WorkerIdRequest {
  readonly layout: Layout;
  /** The ids that may be answered, both ends included. */
  readonly workers: WorkerRange;
  /** The host and process that ask; for people. */
  readonly holder: string;
}

/** A worker id that was assigned. */
export interface AssignedWorkerId {
  readonly workerId: number;
  /**
   * How long the id may be used without another renewal, ms, counted from before it was asked for. Left out: until it
   * is released.
   */
  readonly leaseMs?: number;
  /** Warnings for an operator; logged once. */
  readonly warnings?: readonly string[];
}

/** Assigns worker ids without keeping odometers. A custom one is a class that implements this. */
export interface WorkerIdAssigner {
  /** For logs and errors. */
  readonly name: string;
  readonly guarantee: WorkerIdGuarantee;
  /**
   * Answers a worker id inside the requested range; undefined when the assigner has no source for one (no variable is
   * set, the host's name has no ordinal): the next of several assigners is asked then.
   * @throws when there is a source, and it fails or its id does not fit: no other assigner is asked then
   */
  acquire(request: WorkerIdRequest): Promise<AssignedWorkerId | undefined>;
  /**
   * Extends the lease of an id; called when a third of `leaseMs` has passed.
   * @returns undefined when the id is lost: another one is acquired then
   * @throws when that is not known: the renewal is tried again, and the id used until its lease ends
   */
  renew?(assigned: AssignedWorkerId): Promise<AssignedWorkerId | undefined>;
  /** Gives an id back; nothing is issued under it any more. */
  release?(assigned: AssignedWorkerId): Promise<void>;
}

const MAX_LEASE_MS = 86_400_000;

/** Calls an assigner, which may be an application's own: each call has a deadline, and each answer is checked. */
export class AssignerCalls {
  constructor(
    private readonly assigner: WorkerIdAssigner,
    private readonly request: WorkerIdRequest,
    private readonly ports: Pick<LeasePorts, 'timers'>,
    private readonly timeoutMs: number,
  ) {}

  /** @throws WorkerIdAssignerError */
  async acquire(): Promise<AssignedWorkerId | undefined> {
    const assigned = await this.call(
      'acquire',
      () => this.assigner.acquire(this.request),
      (late) => late !== undefined && void this.release(late),
    );
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
      throw new WorkerIdAssignerError(this.assigner.name, 'it leases ids but has no renew()', false);
    }
    const renewed = await this.call('renew', () => this.assigner.renew!(held));
    return renewed === undefined ? undefined : this.checked(renewed);
  }

  /** Never rejects: when an id that cannot be given back comes free is up to the assigner. */
  async release(assigned: AssignedWorkerId): Promise<void> {
    await this.call('release', async () => this.assigner.release?.(assigned)).catch(() => undefined);
  }

  private checked(assigned: AssignedWorkerId): AssignedWorkerId {
    const { min, max } = this.request.workers;
    const { workerId, leaseMs, warnings } = (assigned ?? {}) as Partial<AssignedWorkerId>;
    if (!Number.isInteger(workerId) || workerId! < min || workerId! > max) {
      const legal = `serviceMinWorkId..serviceMaxWorkId is ${min}..${max}`;
      throw new WorkerIdAssignerError(
        this.assigner.name,
        `it returned worker id ${showValue(workerId)}; ${legal}`,
        false,
      );
    }
    if (warnings !== undefined && !(Array.isArray(warnings) && warnings.every((each) => typeof each === 'string'))) {
      throw new WorkerIdAssignerError(this.assigner.name, 'it returned warnings that are not a list of strings', false);
    }
    if (leaseMs !== undefined && !(typeof leaseMs === 'number' && leaseMs >= 100 && leaseMs <= MAX_LEASE_MS)) {
      const legal = `leaseMs must be from 100 to ${MAX_LEASE_MS}, or omitted`;
      throw new WorkerIdAssignerError(this.assigner.name, `it returned leaseMs ${showValue(leaseMs)}; ${legal}`, false);
    }
    return assigned;
  }

  /** @param onLate is called with an answer that comes after the deadline */
  private async call<T>(what: string, call: () => Promise<T>, onLate?: (answer: T) => void): Promise<T> {
    const { assigner, ports, timeoutMs } = this;
    const deadline = new Deadline(timeoutMs, ports.timers, undefined, 'foreground');
    const answered = async (): Promise<T> => {
      const answer = await call();
      if (deadline.isOver) onLate?.(answer);
      return answer;
    };
    try {
      return await deadline.run(answered);
    } catch (error) {
      if (!deadline.isOver) throw WorkerIdAssignerError.of(assigner.name, what, error);
      throw new WorkerIdAssignerError(assigner.name, `no answer to ${what}() within ${timeoutMs} ms`, true);
    }
  }
}

/** An assigner of worker ids failed, or its answer cannot be used. No other assigner is asked in its place. */
export class WorkerIdAssignerError extends RaindropError {
  static override readonly name = 'WorkerIdAssignerError';
  readonly errorCode = 'WORKER_ID_ASSIGNER';

  constructor(
    readonly assigner: string,
    reason: string,
    retryable: boolean,
    cause?: unknown,
  ) {
    super(`The worker id assigner '${assigner}' gave no worker id: ${reason}.`, { retryable, cause });
  }

  /** Errors of Raindrop stay as they are; any other error counts as one that may pass. */
  static of(assigner: string, call: string, error: unknown): RaindropError {
    if (error instanceof RaindropError) return error;
    const reason = error instanceof Error ? error.message : 'a value that is not an Error';
    return new WorkerIdAssignerError(assigner, `its ${call}() threw: ${reason}`, true, error);
  }
}

/** None of the assigners that were asked has a worker id to give. */
export class NoWorkerIdError extends PermanentError {
  static override readonly name = 'NoWorkerIdError';
  readonly errorCode = 'NO_WORKER_ID';

  constructor(
    readonly assigners: readonly string[],
    hint = '',
  ) {
    const asked = assigners.map((each) => `'${each}'`).join(', ');
    super(`No worker id was found by ${asked}.${hint === '' ? '' : ` ${hint}`}`);
  }
}
