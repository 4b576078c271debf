import type { Layout } from '../layout/layout.js';
import type { WorkerRange } from '../layout/layout-usage.js';
import { RaindropError } from '../raindrop-error.js';
import { showValue } from '../show-value.js';
import type { LeasePorts } from '../lease/lease-context.js';

/**
 * The guarantee of a worker id says what its assigner vouches for.
 *
 * - `fresh`: nobody has ever had the id, and nobody will have it again.
 * - `exclusive`: nobody else has it until it is released or its lease ends; somebody may have had it before.
 * - `declared`: whoever configured it vouches for that, nothing checks it.
 * - `unsafe`: somebody else may have it at this moment.
 *
 * None of them knows how far a former holder has issued. The assigners that do are worker stores: see
 * {@link WorkerStore} and its odometers.
 */
export type WorkerIdGuarantee = 'fresh' | 'exclusive' | 'declared' | 'unsafe';

/** A request tells an assigner what the worker id is wanted for. */
export interface WorkerIdRequest {
  readonly layout: Layout;
  /** The ids that may be answered, both ends included. */
  readonly workers: WorkerRange;
  /** Who asks, for people: host and process. */
  readonly holder: string;
}

/** A worker id that was assigned. */
export interface AssignedWorkerId {
  readonly workerId: number;
  /**
   * How long it may be used without another renewal, ms, counted from before it was asked for. Left out: until it is
   * released.
   */
  readonly leaseMs?: number;
  /** What an operator should know; logged once. */
  readonly warnings?: readonly string[];
}

/** Assigns worker ids without keeping odometers. A custom one is a class that implements this. */
export interface WorkerIdAssigner {
  /** For logs and errors. */
  readonly name: string;
  readonly guarantee: WorkerIdGuarantee;
  /**
   * A worker id inside the range that was asked for; undefined when there is nothing here to take one from (no variable
   * is set, the host's name has no ordinal), so that the next of several assigners is asked.
   * @throws when there is something and it fails or does not fit: then nobody else is asked
   */
  acquire(request: WorkerIdRequest): Promise<AssignedWorkerId | undefined>;
  /**
   * Extends the lease of an id; called at a third of `leaseMs`.
   * @returns undefined when it is lost: another one is acquired then
   * @throws when that is not known: it is tried again, and the id used until its lease ends
   */
  renew?(assigned: AssignedWorkerId): Promise<AssignedWorkerId | undefined>;
  /** Gives an id back, when nothing is issued under it any more. */
  release?(assigned: AssignedWorkerId): Promise<void>;
}

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
    const assigned = await this.withDeadline('acquire', asked, (late) => late !== undefined && void this.release(late));
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
    const renewed = await this.withDeadline(
      'renew',
      this.ask('renew', () => this.assigner.renew!(held)),
    );
    return renewed === undefined ? undefined : this.checked(renewed);
  }

  /** Never rejects: what cannot be given back comes free as the assigner sees to it. */
  async release(assigned: AssignedWorkerId): Promise<void> {
    const released = this.ask('release', async () => this.assigner.release?.(assigned));
    await this.withDeadline('release', released).catch(() => undefined);
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

  private async withDeadline<T>(what: string, call: Promise<T>, late?: (answer: T) => void): Promise<T> {
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

/** An assigner of worker ids failed, or answered what cannot be used. Nobody else is asked in its place. */
export class WorkerIdAssignerError extends RaindropError {
  readonly errorCode = 'WORKER_ID_ASSIGNER';

  constructor(
    readonly assigner: string,
    reason: string,
    retryable: boolean,
    cause?: unknown,
  ) {
    super(`The worker id assigner '${assigner}' gave no worker id: ${reason}.`, { retryable, cause });
  }

  /** Our own errors keep their name; whatever else an assigner throws may pass. */
  static of(assigner: string, call: string, error: unknown): RaindropError {
    if (error instanceof RaindropError) return error;
    const reason = error instanceof Error ? error.message : 'something that is no Error';
    return new WorkerIdAssignerError(assigner, `its ${call}() threw: ${reason}`, true, error);
  }
}

/** None of the assigners that were asked has a worker id to give. */
export class NoWorkerIdError extends RaindropError {
  readonly errorCode = 'NO_WORKER_ID';

  constructor(
    readonly assigners: readonly string[],
    hint = '',
  ) {
    const asked = assigners.map((each) => `'${each}'`).join(', ');
    super(`No worker id: none was found by ${asked}.${hint === '' ? '' : ` ${hint}`}`, { retryable: false });
  }
}
