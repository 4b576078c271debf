import type { Layout } from '../layout/layout.js';
import type { WorkerRange } from '../layout/layout-usage.js';

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
