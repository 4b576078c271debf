import type { Segment } from '../../../libs/core/src/segment/segment-store.js';

/** Everything that any source handed out, as segments. */
export class PoppedNumbers {
  private readonly segments: Segment[] = [];
  private added = 0;

  add({ first, last }: Segment): void {
    this.segments.push({ first, last });
    this.added += Number(last - first + 1n);
  }

  get count(): number {
    return this.added;
  }

  /** Numbers that were handed out more than once, counted with every repetition. */
  get repeated(): number {
    let end = -1n;
    let repeated = 0;
    for (const { first, last } of this.sorted) {
      if (first <= end) repeated += Number((last < end ? last : end) - first + 1n);
      if (last > end) end = last;
    }
    return repeated;
  }

  /** Numbers between the lowest and the highest that no process got. */
  get missing(): number {
    const { sorted } = this;
    if (sorted.length === 0) return 0;
    const highest = sorted.reduce((max, { last }) => (last > max ? last : max), 0n);
    return Number(highest - sorted[0]!.first + 1n) - (this.count - this.repeated);
  }

  private get sorted(): Segment[] {
    return [...this.segments].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  }
}
