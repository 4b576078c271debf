import type { Layout } from '../layout/layout.js';
import type { RaindropError } from '../raindrop-error.js';
import type { Lane, PerLane } from './position.js';
import type { Tenure } from './tenure.js';

/**
 * What the present looks like: the tick of the clock, and whether and as whom IDs may be issued.
 *
 * A *window* is a stretch in which neither tick nor tenure changed; its number tells whether what was found out earlier
 * still holds. The clock is turned into a tick once for each window, the tenure is asked at every new value of the clock.
 */
export class ClockWindow {
  /** The number of the present window. */
  id = 0;
  /** The value of the clock that was looked at last; NaN when the next step must look again. */
  seen = Number.NaN;
  /** The clock, ms. */
  wallMs = Number.NaN;
  /** The tick of the clock. */
  tick = Number.NEGATIVE_INFINITY;
  /** The highest tick of the clock in this tenure. */
  highestTick = Number.NEGATIVE_INFINITY;
  /** Why nothing may be issued now; undefined when it may. */
  refusal: RaindropError | undefined;
  private startMs = Number.NaN;
  private endMs = Number.NaN;
  private tenureNumber = 0;
  /** IDs of tick 0, sequence 0, by lane. */
  private templates: PerLane<bigint> = [0n, 0n];
  private readonly tickShift: bigint;

  constructor(
    private readonly layout: Layout,
    private readonly tenure: Tenure,
  ) {
    this.tickShift = BigInt(layout.lowBits);
  }

  /** Drops what was found out: the next step looks at clock and tenure anew. */
  forget(): void {
    this.id++;
    this.seen = Number.NaN;
  }

  /** Takes note of a new value of the clock. When that throws, the next call does it again: nothing is issued between. */
  observe(now: number): void {
    this.wallMs = now;
    this.seen = Number.NaN;
    this.look(now);
    this.seen = now;
  }

  /** The ID of sequence 0 at a place, under the present worker id. */
  idBase(lane: Lane, tick: number): bigint {
    return this.templates[lane] + (BigInt(tick) << this.tickShift);
  }

  private look(now: number): void {
    this.refusal = this.tenure.admit(now);
    if (this.refusal !== undefined) {
      this.id++;
      return;
    }
    if (now >= this.startMs && now < this.endMs && this.tenureNumber === this.tenure.number) return;
    this.id++;
    const { timeline } = this.layout;
    this.tick = timeline.tickAt(now);
    this.startMs = timeline.startOf(this.tick);
    this.endMs = this.startMs + timeline.unitMs;
    if (this.tenureNumber !== this.tenure.number) this.beginTenure();
    this.highestTick = Math.max(this.highestTick, this.tick);
  }

  private beginTenure(): void {
    const { workerId, number } = this.tenure;
    const template = (clockBack: number): bigint => this.layout.pack({ tick: 0, workerId, clockBack, sequence: 0 });
    this.templates = [template(0), template(this.layout.hasClockBack ? 1 : 0)];
    this.highestTick = this.tick;
    this.tenureNumber = number;
  }
}
