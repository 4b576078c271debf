import type { Lane, PerLane, Position, RaindropError, Tenure } from '@raindrop/core';

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
export class SteeredTenure implements Tenure {
  number = 0;
  workerId = -1;
  lane: Lane = 0;
  base: PerLane<Position> = [START, START];
  limit: PerLane<Position> = [START, START];
  readonly soft: PerLane<Position> = [END, END];
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
