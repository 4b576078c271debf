import { ClosedError, StaticTenure, type LeaseStatus, type RaindropError, type Tenure } from '@raindrop/core';
import type { Worker } from './worker.js';

/** A worker id given by hand: nothing is leased, nothing is remembered. */
export class StaticWorker implements Worker {
  readonly tenure: ClosableTenure;

  constructor(workerId: number, lane: 0 | 1) {
    this.tenure = new ClosableTenure(workerId, lane);
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  status(): LeaseStatus {
    const { workerId, lane, base, limit, isClosed } = this.tenure;
    return {
      state: isClosed ? 'closed' : 'held',
      workerId: isClosed ? undefined : workerId,
      lane,
      leaseLeftMs: isClosed ? 0 : Number.POSITIVE_INFINITY,
      base,
      limit,
      clockOffsetMs: undefined,
      renewals: 0,
      failures: 0,
      lastError: undefined,
    };
  }

  onEvent(): void {}

  afterRestore(): void {}

  close(): Promise<void> {
    this.tenure.close();
    return Promise.resolve();
  }
}

class ClosableTenure extends StaticTenure implements Tenure {
  isClosed = false;
  private changed: () => void = () => {};

  override admit(): RaindropError | undefined {
    return this.isClosed ? new ClosedError() : undefined;
  }

  override onChange(listener?: () => void): void {
    if (listener !== undefined) this.changed = listener;
  }

  close(): void {
    this.isClosed = true;
    this.changed();
  }
}
