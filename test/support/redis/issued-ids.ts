/** Every ID that anybody issued, and when. */
export class IssuedIds {
  private readonly seen = new Set<bigint>();
  private readonly again = new Set<bigint>();
  /** When so many had been issued, with repeats, oldest first; one entry a millisecond. */
  private readonly counts: { readonly at: number; count: number }[] = [];

  add(id: bigint): void {
    if (this.seen.has(id)) this.again.add(id);
    this.seen.add(id);
    const at = Date.now();
    const last = this.counts.at(-1);
    if (last?.at === at) last.count++;
    else this.counts.push({ at, count: 1 });
  }

  /** How many different ones there are. */
  get size(): number {
    return this.seen.size;
  }

  /** How many were issued more than once. */
  get repeated(): number {
    return this.again.size;
  }

  /** How many were issued later than that. */
  countAfter(time: number): number {
    return this.counts.reduce((sum, { at, count }) => (at > time ? sum + count : sum), 0);
  }
}
