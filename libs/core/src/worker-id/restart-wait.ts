import { BEFORE_ALL, type Position } from '../generator/position.js';
import type { Layout } from '../layout/layout.js';
import type { LeasePorts } from '../lease/lease-context.js';

/** How much longer than needed one waits for a clock that does not get there. */
const PATIENCE_MS = 10_000;

/** The end of one look at the clock; a clock that is set forward is seen by then. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Keeps the first ID of a tenure back where nobody knows how far a former holder of the worker id has issued: up to the
 * tick of the clock + `waitMs`, it is taken, and the clock has to pass that first.
 */
export class RestartWait {
  /** Everything up to here may have been issued. */
  readonly base: Position;
  private isOver: boolean;

  /** @param waitMs false for none */
  constructor(
    private readonly layout: Layout,
    private readonly waitMs: number | false,
    wallMs: number,
  ) {
    this.isOver = waitMs === false;
    const tick = layout.timeline.tickAt(wallMs + Number(waitMs));
    this.base = waitMs === false ? BEFORE_ALL : { tick, sequence: layout.maxSequence };
  }

  /** Tells whether the clock has passed the base; once it has, later steps of the clock are the lanes' business. */
  hasPassed(wallMs: number): boolean {
    this.isOver ||= this.layout.timeline.tickAt(wallMs) > this.base.tick;
    return this.isOver;
  }

  /** Tells how long the clock still has to go, ms; 0 or less when it has got there. */
  leftMs(wallMs: number): number {
    return this.isOver ? 0 : this.layout.timeline.startOf(this.base.tick + 1) - wallMs;
  }

  /** Waits for the clock. Answers false when it does not get there, or when `isEnded` says so. */
  async pass({ clock, monotonic, timers }: LeasePorts, isEnded: () => boolean): Promise<boolean> {
    const giveUpMs = monotonic.now() + Number(this.waitMs) + this.layout.unitMs + PATIENCE_MS;
    for (let wallMs = clock.refresh(); !this.hasPassed(wallMs); wallMs = clock.refresh()) {
      if (isEnded() || monotonic.now() > giveUpMs) return false;
      const pauseMs = Math.min(Math.max(1, this.leftMs(wallMs)), LOOK_AGAIN_MS);
      await new Promise<void>((resolve) => timers.setTimer(resolve, pauseMs, 'foreground'));
    }
    return true;
  }
}
