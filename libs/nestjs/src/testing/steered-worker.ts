import {
  ClosedError,
  type Lane,
  type LeaseEvent,
  type LeaseStatus,
  type RaindropError,
  type SnowflakeGenerator,
} from '@raindrop/core';
import { LeaseLostError } from '@raindrop/core/internal';
import type { Worker } from '@raindrop/node/internal';
import { SteeredTenure } from './steered-tenure.js';

/** A worker id that is lost and comes back when a test says so. */
export class SteeredWorker implements Worker {
  readonly assigner = 'test';
  readonly guarantee = 'reserved';
  readonly tenure = new SteeredTenure((lane) => this.flipped(lane));
  private readonly listeners: ((event: LeaseEvent) => void)[] = [];
  private lost: LeaseLostError | undefined;
  private refused: RaindropError | undefined;
  private closed: ClosedError | undefined;
  private renewals = 0;
  private failures = 0;

  constructor(
    private readonly firstId: number,
    private readonly firstLane: Lane,
  ) {
    this.tenure.grant(firstId, firstLane);
  }

  start(generator: SnowflakeGenerator): Promise<void> {
    this.tenure.reportedBy((lane) => generator.highest(this.tenure, lane));
    return Promise.resolve();
  }

  lose(reason: string): void {
    const { workerId } = this.tenure;
    if (this.closed !== undefined || this.lost !== undefined) return;
    this.lost = new LeaseLostError(workerId, reason);
    this.failures++;
    this.judge();
    this.tell({ type: 'lease-lost', workerId, reason });
  }

  regain(workerId: number): void {
    if (this.closed !== undefined) return;
    if (this.lost === undefined) {
      if (workerId === this.tenure.workerId) return;
      this.lose('another worker id is taken');
    }
    this.lost = undefined;
    this.renewals++;
    this.tenure.grant(workerId, this.firstLane);
    this.judge();
    this.tell({ type: 'lease-regained', workerId });
  }

  refuseWith(error: RaindropError | undefined): void {
    this.refused = error;
    this.judge();
  }

  reset(): void {
    this.lost = undefined;
    this.refused = undefined;
    this.renewals = 0;
    this.failures = 0;
    this.tenure.restart(this.firstId, this.firstLane);
    this.judge();
  }

  status(): LeaseStatus {
    const { workerId, lane, base, limit } = this.tenure;
    const held = this.closed === undefined && this.lost === undefined;
    return {
      state: this.closed !== undefined ? 'closed' : this.lost !== undefined ? 'lost' : 'held',
      workerId: held ? workerId : undefined,
      lane,
      leaseLeftMs: held && this.refused === undefined ? Number.POSITIVE_INFINITY : 0,
      base,
      limit,
      clockOffsetMs: undefined,
      renewals: this.renewals,
      failures: this.failures,
      lastError: this.lost ?? this.refused,
    };
  }

  onEvent(listener: (event: LeaseEvent) => void): void {
    this.listeners.push(listener);
  }

  afterRestore(): void {}

  close(): Promise<void> {
    if (this.closed === undefined) {
      this.closed = new ClosedError();
      this.judge();
      if (this.lost === undefined) this.tell({ type: 'lease-released', workerId: this.tenure.workerId });
    }
    return Promise.resolve();
  }

  private judge(): void {
    this.tenure.bar(this.closed ?? this.lost ?? this.refused);
  }

  /** Told when the call that noticed it is over: a listener may ask for an ID. */
  private flipped(lane: Lane): void {
    const { workerId } = this.tenure;
    void Promise.resolve().then(() => this.tell({ type: 'clock-back', workerId, lane }));
  }

  private tell(event: LeaseEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}
