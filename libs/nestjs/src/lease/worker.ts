import type { LeaseEvent, LeaseStatus, SnowflakeGenerator, Tenure } from '@raindrop/core';

/** A worker id, however it was come by, as the service sees it. */
export interface Worker {
  readonly tenure: Tenure;
  /** Settles when IDs can be issued; `generator` says what was, when the worker is given back. */
  start(generator: SnowflakeGenerator): Promise<void>;
  status(): LeaseStatus;
  onEvent(listener: (event: LeaseEvent) => void): void;
  afterRestore(): void;
  /** Never rejects. */
  close(): Promise<void>;
}
