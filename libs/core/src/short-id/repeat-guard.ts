/** Numbers whose times led the monotonic clock by nearly the same. */
interface Stretch {
  /** By how much at least, ms. */
  readonly leadMs: number;
  /** When the last of them was issued, monotonic ms. */
  lastMs: number;
}

/**
 * Sees that a number of a cycle would come again too soon, because the clock was set forward.
 *
 * A number comes again when the time in it has gone on by a cycle. If that time leads the monotonic clock by `x` more
 * than then, only a cycle minus `x` has really passed: too little when `x` is more than a cycle minus the time for
 * which numbers must differ. So the smallest lead of that time is what has to be known.
 */
export class RepeatGuard {
  /**
   * Of the last `keepMs`: a later one with a smaller lead takes the place of those before it, so the first is smallest.
   */
  private readonly stretches: Stretch[] = [];

  constructor(
    private readonly cycleMs: number,
    private keepMs: number,
  ) {}

  /** For how long numbers differ, ms. */
  get keptMs(): number {
    return this.keepMs;
  }

  /** Lets numbers differ for so long at least, from now on. */
  keepAtLeast(keepMs: number): void {
    this.keepMs = Math.max(this.keepMs, keepMs);
  }

  private get slackMs(): number {
    return this.cycleMs - this.keepMs;
  }

  /**
   * For how long a number of a time must not be issued yet, ms; 0 when it may be.
   * @param timeMs what the number says
   * @param nowMs the monotonic clock
   */
  blockedMs(timeMs: number, nowMs: number): number {
    const { stretches, keepMs } = this;
    while (stretches.length > 0 && nowMs - stretches[0]!.lastMs >= keepMs) stretches.shift();
    const first = stretches[0];
    if (first === undefined || timeMs - nowMs - first.leadMs <= this.slackMs) return 0;
    return first.lastMs + keepMs - nowMs;
  }

  /** Takes note of a number that is issued. */
  note(timeMs: number, nowMs: number): void {
    const { stretches } = this;
    const leadMs = timeMs - nowMs;
    while (stretches.length > 0 && stretches.at(-1)!.leadMs >= leadMs) stretches.pop();
    const last = stretches.at(-1);
    // To join them errs on the safe side, and leaves ten of them at most.
    if (last !== undefined && leadMs - last.leadMs < this.slackMs / 8) last.lastMs = nowMs;
    else stretches.push({ leadMs, lastMs: nowMs });
  }
}
