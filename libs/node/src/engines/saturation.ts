/** Renewals may follow each other in milliseconds; a shorter stretch says nothing about the load. */
const SHORTEST_MS = 1_000;

/**
 * How much of its capacity a worker used between the last two renewals that were at least a second apart: IDs issued, as
 * a share of what the layout holds for one code in that time. Measured where the renewals come by, so that it needs no
 * timer and any number of readers see the same.
 */
export class Saturation {
  /** Above 1 when several codes, each with a sequence of its own, issued more than one could. Null before the first measurement. */
  share: number | null = null;

  private issuedBefore = 0;
  private measuredMs: number;

  constructor(
    private readonly idsPerSecond: number,
    nowMs: number,
  ) {
    this.measuredMs = nowMs;
  }

  /**
   * @param issued IDs issued since the start
   * @param nowMs monotonic
   */
  measure(issued: number, nowMs: number): void {
    const elapsedMs = nowMs - this.measuredMs;
    if (elapsedMs < SHORTEST_MS) return;
    this.share = ((issued - this.issuedBefore) * 1_000) / (elapsedMs * this.idsPerSecond);
    this.issuedBefore = issued;
    this.measuredMs = nowMs;
  }
}
