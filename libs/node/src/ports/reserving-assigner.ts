import type { ResolvedLeaseOptions, Timers, WorkerStore } from '@raindrop/core';

/** The context that a store of worker rows is opened with. */
export interface StoreContext {
  readonly lease: ResolvedLeaseOptions;
  readonly timers: Timers;
  /** Says what an operator should know. */
  readonly warn: (message: string) => void;
}

/**
 * Leases worker ids from a store that keeps odometers, by the same protocol as from the database: the one kind of which
 * the next holder of a worker id knows how far the last one has issued.
 */
export interface ReservingAssigner {
  /** For logs and errors. */
  readonly name: string;
  /** Opens the rows; the lease keeper closes them. */
  openStore(context: StoreContext): WorkerStore;
  /** How long a start waits for a worker id where `waitForWorkerMs` is left out, ms. Default 0. */
  defaultWaitMs?(lease: ResolvedLeaseOptions): number;
}
