import type {
  AppSegmentStore,
  ResolvedLeaseOptions,
  SegmentPorts,
  SegmentStore,
  Timers,
  WorkerIdGuarantee,
  WorkerStore,
} from '@raindrop/core';

/**
 * How certain it is that a worker id is unique. `reserved`: no other process has it, and its row says how far it was
 * used before. The others are what its assigner guarantees.
 */
export type WorkerGuarantee = 'reserved' | WorkerIdGuarantee;

/** Where a worker id comes from. */
export interface WorkerSource {
  /** The name of the assigner that gave it. */
  readonly assigner: string;
  readonly guarantee: WorkerGuarantee;
}

/** The inputs of a store of worker rows. */
export interface StoreContext {
  readonly lease: ResolvedLeaseOptions;
  readonly timers: Timers;
  /** Writes a warning for an operator to the log. */
  readonly warn: (message: string) => void;
}

/**
 * Leases worker ids from a store that keeps odometers, by the same protocol as from the database. Only with odometers
 * does the next holder of a worker id know how far the last holder has issued.
 */
export interface ReservingAssigner {
  /** For logs and errors. */
  readonly name: string;
  /** Opens the store of the rows; Raindrop closes it. */
  openStore(context: StoreContext): WorkerStore;
  /** How long a start waits for a worker id where the option `waitForWorkerMs` is left out, ms. Default 0. */
  defaultWaitMs?(lease: ResolvedLeaseOptions): number;
}

/**
 * Puts numbers that several processes share in front of the tables; `redisBuffer()` of `@raindrop/node/redis` is one.
 * A `scope` names the database and the table: processes share numbers only within the same scope. `warn` is called once
 * when the buffer cannot be used, and once more if that happens again after the buffer has worked.
 */
export interface SegmentBuffer {
  /** @returns a store that closes the given one as well */
  codes(store: SegmentStore, scope: string, ports: SegmentPorts, warn?: (message: string) => void): SegmentStore;
  /** @returns a store that closes the given one as well */
  apps(store: AppSegmentStore, scope: string, ports: SegmentPorts, warn?: (message: string) => void): AppSegmentStore;
}
