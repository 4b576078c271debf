/** A segment that is used up faster was too small, ms. */
const FAST_MS = 15 * 60_000;
/** One that lasts longer was too large, ms. */
const SLOW_MS = 30 * 60_000;

/**
 * How many numbers the next reservation takes: twice as many when a segment was used up in under 15 minutes, half when it
 * lasted over 30, never fewer than the row's own step and never more than `maxStep`, unless the row's step is larger.
 *
 * The rule and its times are those of Leaf's segment mode.
 */
export class AdaptiveStep {
  /** 0 until a first answer has told the row's own step. */
  current = 0;
  private rowStep = 0;
  private begunAt = Number.NaN;

  constructor(private readonly maxStep: number) {}

  /** A reservation has told the row's own step. */
  learn(rowStep: number): void {
    this.rowStep = rowStep;
    this.current = Math.max(this.current, rowStep);
  }

  /** Another segment has come into use. @param at monotonic ms */
  segmentBegan(at: number): void {
    const lasted = at - this.begunAt;
    if (lasted < FAST_MS) this.current = Math.max(this.rowStep, Math.min(this.current * 2, this.maxStep));
    else if (lasted > SLOW_MS) this.current = Math.max(this.rowStep, Math.floor(this.current / 2));
    this.begunAt = at;
  }

  /** The next segment is the first again: it says nothing about how long those before it lasted. */
  restart(): void {
    this.begunAt = Number.NaN;
  }
}
