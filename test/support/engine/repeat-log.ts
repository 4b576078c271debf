/** Writes down when numbers were issued, and how soon any of them came again. */
export class RepeatLog {
  issued = 0;
  /** The shortest time after which a number came again, ms. */
  shortestMs = Number.POSITIVE_INFINITY;
  private readonly lastMs = new Map<number, number>();

  /** @param nowMs time that really passed */
  note(shortId: number, nowMs: number): void {
    this.issued++;
    const before = this.lastMs.get(shortId);
    if (before !== undefined) this.shortestMs = Math.min(this.shortestMs, nowMs - before);
    this.lastMs.set(shortId, nowMs);
  }
}
