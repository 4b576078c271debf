/** A step that is used up faster than this was too small, ms; one that lasts more than twice as long was too large. */
const FAST_MS = 15 * 60_000;

/**
 * How many IDs the next fetch takes: twice as many when those of the last one were used up fast, half when they lasted
 * long, never fewer than the source's own step and never more than `maxStep`, unless the source's step is larger.
 *
 * The rule and its times, a quarter and half of an hour, are those of Leaf's segment mode.
 */
export class AdaptiveStep {
  /** 0 until the source's own step is known. */
  current = 0;
  private ownStep = 0;
  private begunAt = Number.NaN;

  constructor(
    private readonly maxStep: number,
    private readonly fastMs = FAST_MS,
  ) {}

  /** The source's own step is known. */
  learn(ownStep: number): void {
    this.ownStep = ownStep;
    this.current = Math.max(this.current, ownStep);
  }

  /** The IDs of another fetch have come into use. @param at monotonic ms */
  began(at: number): void {
    const lasted = at - this.begunAt;
    if (lasted < this.fastMs) this.current = Math.max(this.ownStep, Math.min(this.current * 2, this.maxStep));
    else if (lasted > 2 * this.fastMs) this.current = Math.max(this.ownStep, Math.floor(this.current / 2));
    this.begunAt = at;
  }

  /** Starts the measurement anew: the IDs that come into use next say nothing about how long those before lasted. */
  restart(): void {
    this.begunAt = Number.NaN;
  }
}
