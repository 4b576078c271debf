/** Entries of one kind are at least so far apart. */
const EVERY_MS = 10_000;

interface Kind {
  saidAtMs: number;
  unsaid: number;
}

/** Lets one log entry of a kind through in ten seconds and counts the others. The kinds must be few: all are kept. */
export class LogRepeats {
  private readonly kinds = new Map<string, Kind>();

  /** @param now a clock that only goes forward, ms */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** How many of this kind went unsaid since the last one; undefined when this one shall too. */
  admit(kind: string): number | undefined {
    const known = this.kinds.get(kind);
    const atMs = this.now();
    if (known !== undefined && atMs - known.saidAtMs < EVERY_MS) {
      known.unsaid++;
      return undefined;
    }
    this.kinds.set(kind, { saidAtMs: atMs, unsaid: 0 });
    return known?.unsaid ?? 0;
  }
}
