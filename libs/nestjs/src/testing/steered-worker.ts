import {
  ClosedError,
  type Lane,
  type LeaseEvent,
  type LeaseStatus,
  type PerLane,
  type Position,
  type RaindropError,
  type SnowflakeGenerator,
  type Tenure,
} from '@raindrop/core';
import { LeaseLostError } from '@raindrop/core/internal';
import type { Worker } from '@raindrop/node/internal';

const START: Position = { tick: Number.NEGATIVE_INFINITY, sequence: -1 };
const END: Position = { tick: Number.POSITIVE_INFINITY, sequence: -1 };

/** What is left of a worker id that was given back. */
interface Past {
  readonly lane: Lane;
  readonly reached: PerLane<Position>;
}

/**
 * A tenure that a test takes away and grants again. Only one lane at a time is open: the other ends where it was left, so
 * that going back in time asks for it, as with a leased worker. What a worker id has issued is never granted again.
 */
class SteeredTenure implements Tenure {
  number = 0;
  workerId = -1;
  lane: Lane = 0;
  base: PerLane<Position> = [START, START];
  limit: PerLane<Position> = [START, START];
  readonly renewThreshold: PerLane<Position> = [END, END];
  readonly flipping = false;

  private readonly pasts = new Map<number, Past>();
  private refusal: RaindropError | undefined;
  private reachedOn: (lane: Lane) => Position = () => START;
  private changed: () => void = () => {};

  /** @param flipped called in the middle of issuing: nothing may be issued in it */
  constructor(private readonly flipped: (lane: Lane) => void) {}

  /** Names who knows how far has been issued. */
  reportedBy(reachedOn: (lane: Lane) => Position): void {
    this.reachedOn = reachedOn;
  }

  /** Grants a worker id, behind everything it has issued; one that is new begins on `firstLane`. */
  grant(workerId: number, firstLane: Lane): void {
    if (this.number > 0) this.pasts.set(this.workerId, { lane: this.lane, reached: this.reached });
    this.begin(workerId, this.pasts.get(workerId) ?? { lane: firstLane, reached: [START, START] });
  }

  /** Grants a worker id from the first position, as if nothing had ever been issued. */
  restart(workerId: number, firstLane: Lane): void {
    this.pasts.clear();
    this.begin(workerId, { lane: firstLane, reached: [START, START] });
  }

  /** Nothing is issued while there is a refusal. */
  bar(refusal: RaindropError | undefined): void {
    this.refusal = refusal;
    this.changed();
  }

  /** Calls that wait look again. */
  wake(): void {
    this.changed();
  }

  admit(): RaindropError | undefined {
    return this.refusal;
  }

  requestExtension(): void {}

  requestFlip(lane: Lane): void {
    this.open(lane, this.reached);
    this.changed();
    this.flipped(lane);
  }

  onChange(listener: () => void): void {
    this.changed = listener;
  }

  private get reached(): PerLane<Position> {
    return [this.reachedOn(0), this.reachedOn(1)];
  }

  private begin(workerId: number, { lane, reached }: Past): void {
    this.number++;
    this.workerId = workerId;
    this.base = reached;
    this.open(lane, reached);
    this.changed();
  }

  private open(lane: Lane, reached: PerLane<Position>): void {
    this.lane = lane;
    this.limit = lane === 0 ? [END, reached[1]] : [reached[0], END];
  }
}

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
