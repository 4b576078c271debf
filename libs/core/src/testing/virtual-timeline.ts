import type { Timer } from '../ports.js';

/** Whose timers these are: while paused they wait, once stopped they never fire. */
export interface TimerOwner {
  readonly isPaused: boolean;
  readonly isStopped: boolean;
}

interface Pending {
  at: number;
  readonly order: number;
  readonly owner: TimerOwner;
  readonly callback: () => void;
}

/** Time that passes for everybody who shares it, and the timers that wait for it. Nothing moves by itself. */
export class VirtualTimeline {
  elapsed = 0;
  private order = 0;
  private readonly pending = new Set<Pending>();

  /** Different at every call. */
  nextNumber(): number {
    return this.order++;
  }

  setTimer(owner: TimerOwner, callback: () => void, delayMs: number): Timer {
    const timer: Pending = { at: this.elapsed + Math.max(0, delayMs), order: this.nextNumber(), owner, callback };
    this.pending.add(timer);
    return { cancel: () => void this.pending.delete(timer) };
  }

  /** The timers of an owner that wait. */
  pendingOf(owner: TimerOwner): ReadonlySet<unknown> {
    return new Set([...this.pending].filter((each) => each.owner === owner));
  }

  /** All timers of an owner fire so much later. */
  delay(owner: TimerOwner, ms: number): void {
    for (const each of this.pending) if (each.owner === owner) each.at += ms;
  }

  /** Lets time pass: timers fire in order, and what they start gets its turn. */
  async advance(ms: number): Promise<void> {
    const end = this.elapsed + ms;
    await settle();
    for (let next = this.next(end); next !== undefined; next = this.next(end)) {
      this.pending.delete(next);
      this.elapsed = Math.max(this.elapsed, next.at);
      next.callback();
      await settle();
    }
    this.elapsed = Math.max(this.elapsed, end);
    await settle();
  }

  private next(end: number): Pending | undefined {
    let first: Pending | undefined;
    for (const each of this.pending) {
      if (each.owner.isStopped) this.pending.delete(each);
      else if (each.at > end || each.owner.isPaused) continue;
      else if (first === undefined || each.at < first.at || (each.at === first.at && each.order < first.order)) {
        first = each;
      }
    }
    return first;
  }
}

/** Lets everything that only waits for promises run: a turn of the real event loop ends when none is left. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
