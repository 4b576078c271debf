import {
  ClosedError,
  type Lane,
  type LeaseEvent,
  type LeaseStatus,
  type PerLane,
  type Position,
  type RaindropError,
  LeaseLostError,
} from '@raindrop/core';
import type { Worker } from '@raindrop/core/internal';

const START: Position = { tick: Number.NEGATIVE_INFINITY, sequence: -1 };
const END: Position = { tick: Number.POSITIVE_INFINITY, sequence: -1 };

/** How far a worker id has issued, and on which lane it goes on when it is granted again. */
interface Past {
  readonly lane: Lane;
  readonly highest: PerLane<Position>;
}

/**
 * A worker whose id is lost and comes back when a test says so. Only one lane at a time is open: the other ends where it
 * was left, so that a generator whose clock goes back asks for it, as with a leased worker. What a worker id has issued
 * is not granted again, until {@link reset}.
 */
export class FakeWorker implements Worker {
  number = 0;
  workerId = -1;
  lane: Lane = 0;
  base: PerLane<Position> = [START, START];
  limit: PerLane<Position> = [START, START];
  readonly renewThreshold: PerLane<Position> = [END, END];
  readonly flipping = false;

  private readonly pasts = new Map<number, Past>();
  private readonly listeners: ((event: LeaseEvent) => unknown)[] = [];
  private highestOn: (lane: Lane) => Position = () => START;
  private changed: () => void = () => {};
  private lost: LeaseLostError | undefined;
  private refused: RaindropError | undefined;
  private closed: ClosedError | undefined;
  private renewals = 0;
  private failures = 0;

  /** @param firstLane the lane on which an id begins that was not granted before */
  constructor(
    private readonly firstId: number,
    private readonly firstLane: Lane,
  ) {
    this.grant(firstId);
  }

  setHighestIssued(highest: (lane: Lane) => Position): void {
    this.highestOn = highest;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Undefined when IDs may be issued now. */
  admit(): RaindropError | undefined {
    return this.closed ?? this.lost ?? this.refused;
  }

  /** Does nothing: the open lane has no limit. */
  requestExtension(): void {}

  /** Grants the other lane at once. The event follows when the generator's call is over: a listener may ask for an ID. */
  requestFlip(lane: Lane): void {
    this.open(lane, this.highest);
    this.changed();
    const { workerId } = this;
    void Promise.resolve().then(() => this.tell({ type: 'clock-back', workerId, lane }));
  }

  onChange(listener: () => void): void {
    this.changed = listener;
  }

  onEvent(listener: (event: LeaseEvent) => unknown): void {
    this.listeners.push(listener);
  }

  /** Takes the worker id away. Does nothing when it is lost already, or closed. */
  lose(reason: string): void {
    if (this.closed !== undefined || this.lost !== undefined) return;
    const { workerId } = this;
    this.lost = new LeaseLostError(workerId, reason);
    this.failures++;
    this.changed();
    this.tell({ type: 'lease-lost', workerId, reason });
  }

  /** Grants a worker id, behind everything that it has issued. The one that is held now is lost first, unless it is the same. */
  regain(workerId: number): void {
    if (this.closed !== undefined) return;
    if (this.lost === undefined) {
      if (workerId === this.workerId) return;
      this.lose('another worker id is taken');
    }
    this.lost = undefined;
    this.renewals++;
    this.pasts.set(this.workerId, { lane: this.lane, highest: this.highest });
    this.grant(workerId);
    this.tell({ type: 'lease-regained', workerId });
  }

  /** Refuses every ID with this error, until called with undefined. */
  refuseWith(error: RaindropError | undefined): void {
    this.refused = error;
    this.changed();
  }

  /** Makes calls that wait for the clock look at it again. */
  wake(): void {
    this.changed();
  }

  /** Begins anew with the first worker id and the first position, as if nothing had ever been issued. */
  reset(): void {
    this.lost = undefined;
    this.refused = undefined;
    this.renewals = 0;
    this.failures = 0;
    this.pasts.clear();
    this.grant(this.firstId);
  }

  status(): LeaseStatus {
    const { workerId, lane, base, limit, renewals, failures } = this;
    const isHeld = this.closed === undefined && this.lost === undefined;
    return {
      state: this.closed !== undefined ? 'closed' : this.lost !== undefined ? 'lost' : 'held',
      workerId: isHeld ? workerId : undefined,
      lane,
      leaseLeftMs: isHeld && this.refused === undefined ? Number.POSITIVE_INFINITY : 0,
      base,
      limit,
      clockOffsetMs: undefined,
      renewals,
      failures,
      lastError: this.lost ?? this.refused,
    };
  }

  /** Does nothing: a test has no snapshot to be restored from. */
  afterRestore(): void {}

  close(): Promise<void> {
    if (this.closed === undefined) {
      this.closed = new ClosedError();
      this.changed();
      if (this.lost === undefined) this.tell({ type: 'lease-released', workerId: this.workerId });
    }
    return Promise.resolve();
  }

  private get highest(): PerLane<Position> {
    return [this.highestOn(0), this.highestOn(1)];
  }

  private grant(workerId: number): void {
    const { lane, highest } = this.pasts.get(workerId) ?? { lane: this.firstLane, highest: [START, START] as const };
    this.number++;
    this.workerId = workerId;
    this.base = highest;
    this.open(lane, highest);
    this.changed();
  }

  /** Opens one lane without an end; the other one ends where it was left. */
  private open(lane: Lane, highest: PerLane<Position>): void {
    this.lane = lane;
    this.limit = lane === 0 ? [END, highest[1]] : [highest[0], END];
  }

  private tell(event: LeaseEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}
