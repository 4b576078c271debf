import type { LeaseEvent, LeaseStatus, SnowflakeGenerator, Tenure, WorkerIdGuarantee } from '@raindrop/core';

/**
 * The guarantee says what is known of a worker id: `reserved`, that nobody else has it, and how far it was used before;
 * or what its assigner vouches for.
 */
export type WorkerGuarantee = 'reserved' | WorkerIdGuarantee;

/** A worker id, however it was come by, as the service sees it. */
export interface Worker {
  /** The name of its assigner. */
  readonly assigner: string;
  readonly guarantee: WorkerGuarantee;
  readonly tenure: Tenure;
  /** Settles when IDs can be issued; `generator` says what was, when the worker is given back. */
  start(generator: SnowflakeGenerator): Promise<void>;
  status(): LeaseStatus;
  onEvent(listener: (event: LeaseEvent) => void): void;
  afterRestore(): void;
  /** Never rejects. */
  close(): Promise<void>;
}
