import type { Layout } from '../layout/layout.js';
import { ClockBeforeEpochError, TimestampOverflowError } from '../layout/layout-errors.js';
import type { RaindropError } from '../raindrop-error.js';
import type { Clock, MonotonicClock } from '../time/clock.js';
import type { Randomness } from '../time/randomness.js';
import type { CodeTable } from './code-table.js';
import { ClockMovedBackError, ReservationExhaustedError, SequenceExhaustedError } from './generator-errors.js';
import type { ResolvedGeneratorOptions } from './generator-options.js';
import { otherLane, type PerLane } from './position.js';
import type { Sequencer } from './sequencer.js';
import type { Tenure } from './tenure.js';

/** What the generator reads from its surroundings. */
export interface GeneratorPorts {
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
  readonly randomness: Randomness;
}

/** How often something happened since the start. */
export interface IssuerCounters {
  /** A code went over to its other lane because the clock went back. */
  flips: number;
  /** A call found the clock behind its lane and stayed on it. */
  holds: number;
  /** A call found its tick used up and could not borrow. */
  exhausted: number;
}

/** A spinning read of the clock is given up after so many: a clock that stands still must not hang the process. */
const MAX_SPIN_READS = 100_000;

/**
 * Decides which position comes next: clock -> tick -> lane -> position, inside what the tenure grants.
 *
 * A *window* is a stretch in which neither the tick nor the tenure changed. Inside it a sequencer counts up with two
 * comparisons; {@link place} is the long way round, taken once for each window and code.
 */
export class Issuer {
  readonly counters: IssuerCounters = { flips: 0, holds: 0, exhausted: 0 };

  /** The tick of the clock. */
  tick = Number.NEGATIVE_INFINITY;
  private window = 0;
  private windowStart = Number.NaN;
  private windowEnd = Number.NaN;
  /** The clock, ms. */
  private wallMs = Number.NaN;
  /** The same while what follows from it is known; NaN when the next step must look at everything anew. */
  private lastNow = Number.NaN;
  /** The highest tick of the clock in this tenure. */
  private highestTick = Number.NEGATIVE_INFINITY;
  private tenureNumber = 0;
  private refusal: RaindropError | undefined;
  private readonly borrowTicks: number;
  /** IDs of tick 0, sequence 0, by lane. */
  private templates: PerLane<bigint> = [0n, 0n];
  private readonly tickShift: bigint;

  constructor(
    readonly layout: Layout,
    private readonly tenure: Tenure,
    private readonly ports: GeneratorPorts,
    private readonly options: ResolvedGeneratorOptions,
    private readonly codes: CodeTable,
  ) {
    this.tickShift = BigInt(layout.lowBits);
    this.borrowTicks =
      options.onExhausted === 'borrow' ? Math.max(1, Math.floor(options.maxAheadMs / layout.unitMs)) : 0;
  }

  /** Moves `s` one position on. @throws RaindropError when no position may be issued now */
  step(s: Sequencer): void {
    const now = this.ports.clock.now();
    if (now !== this.lastNow) this.observe(now);
    if (s.window === this.window && s.sequence < s.last) s.sequence++;
    else {
      const refusal = this.place(s);
      if (refusal !== undefined) this.insist(s, refusal);
    }
  }

  /** As {@link step}, but reads the real clock, never spins, and answers with the refusal. */
  tryStep(s: Sequencer): RaindropError | undefined {
    const now = this.ports.clock.refresh();
    if (now !== this.lastNow) this.observe(now);
    return this.place(s);
  }

  /** How many more positions follow that of `s` without a gap and without another look at anything. */
  runLength(s: Sequencer): number {
    return s.window === this.window ? Math.max(0, s.last - s.sequence) : 0;
  }

  /** Drops what was cached: the next step looks at clock and tenure anew. */
  forget(): void {
    this.window++;
    this.lastNow = Number.NaN;
  }

  /** Takes note of a new value of the clock. When that throws, the next call does it again: nothing is issued between. */
  private observe(now: number): void {
    this.wallMs = now;
    this.lastNow = Number.NaN;
    this.look(now);
    this.lastNow = now;
  }

  private look(now: number): void {
    this.refusal = this.tenure.admit(now);
    if (this.refusal !== undefined) {
      this.window++;
      return;
    }
    if (now >= this.windowStart && now < this.windowEnd && this.tenureNumber === this.tenure.number) return;
    this.window++;
    const { timeline } = this.layout;
    this.tick = timeline.tickAt(now);
    this.windowStart = timeline.startOf(this.tick);
    this.windowEnd = this.windowStart + timeline.unitMs;
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

  /** A sync call's last resorts: the real clock, then at most one tick of a millisecond layout. */
  private insist(s: Sequencer, refusal: RaindropError): void {
    const { clock } = this.ports;
    const before = this.lastNow;
    const now = clock.refresh();
    let last: RaindropError | undefined = refusal;
    if (now !== before) {
      this.observe(now);
      last = this.place(s);
    }
    if (last instanceof SequenceExhaustedError && this.options.onExhausted !== 'throw' && this.spin()) {
      last = this.place(s);
    }
    if (last !== undefined) throw last;
  }

  private spin(): boolean {
    if (this.layout.unitMs !== 1) return false;
    const { clock, monotonic } = this.ports;
    const [before, start] = [this.wallMs, monotonic.now()];
    for (let reads = 0; reads < MAX_SPIN_READS && monotonic.now() - start <= 1; reads++) {
      const now = clock.refresh();
      if (now === before) continue;
      this.observe(now);
      return true;
    }
    return false;
  }

  /** Finds the next position of `s` and moves it there, or says why there is none. */
  private place(s: Sequencer): RaindropError | undefined {
    if (this.refusal !== undefined) return this.refusal;
    const { tenure, tick: now, window } = this;
    if (s.tenure !== tenure.number) s.begin(tenure.number, tenure.lane, this.codes.floors(tenure), this.highestTick);
    else s.raise(tenure.base);

    let ahead = now + this.borrowTicks;
    let held = false;
    if (s.tick <= now || (now >= s.wallTick && s.tick <= ahead)) {
      // A tick borrowed ahead of a healthy clock is not a rollback.
      s.wallTick = now;
      s.heldSince = Number.NaN;
    } else if (!this.flip(s)) {
      const heldMs = this.hold(s);
      if (heldMs > this.options.maxHoldMs && !tenure.flipping) return this.movedBack(s);
      ahead = s.heldTick + Math.floor(heldMs / this.layout.unitMs) + this.borrowTicks;
      held = true;
    }

    let refusal = this.advance(s, ahead);
    if (refusal instanceof ReservationExhaustedError) {
      if (s.lane === tenure.lane) tenure.requestExtension();
      else if (this.flip(s)) {
        // Renewals extend the worker's current lane only: a code left on the other one moves over.
        held = false;
        refusal = this.advance(s, now + this.borrowTicks);
      } else if (s.resting.tick >= now) tenure.requestFlip(s.lane);
    }
    if (refusal !== undefined) {
      s.window = -1;
      return refusal;
    }
    // A held lane is timed: every call looks again. So it does after a request that changed the tenure.
    this.remember(s, held ? -1 : window);
    return undefined;
  }

  /** Goes over to the other lane where that one is still below the clock; asks for a reservation if there is none. */
  private flip(s: Sequencer): boolean {
    if (!this.layout.hasClockBack || s.resting.tick >= this.tick) return false;
    const lane = otherLane(s.lane);
    const limit = this.tenure.limit[lane];
    if (limit.tick < this.tick || (limit.tick === this.tick && limit.sequence < 0)) {
      this.tenure.requestFlip(lane);
      return false;
    }
    s.flip(this.tick);
    this.counters.flips++;
    return true;
  }

  /** Stays on a lane that is ahead of the clock; for how long already, ms. */
  private hold(s: Sequencer): number {
    const now = this.ports.monotonic.now();
    if (Number.isNaN(s.heldSince)) {
      s.heldSince = now;
      s.heldTick = s.tick;
    }
    this.counters.holds++;
    return now - s.heldSince;
  }

  private movedBack(s: Sequencer): RaindropError {
    const behindMs = this.layout.timeline.startOf(s.tick) - this.wallMs;
    return new ClockMovedBackError(s.tick, this.tick, Math.max(1, behindMs));
  }

  private advance(s: Sequencer, ahead: number): RaindropError | undefined {
    const { layout, tenure } = this;
    let { tick } = s;
    let sequence = s.sequence + 1;
    if (tick < this.tick) {
      tick = this.tick;
      sequence = this.firstSequence(s);
    } else if (sequence > layout.maxSequence) {
      if (tick + 1 > ahead) return this.exhausted(tick);
      tick++;
      sequence = this.firstSequence(s);
    }
    if (tick < 0) return new ClockBeforeEpochError(this.wallMs, layout.epochMs);
    if (tick > layout.maxTick) return new TimestampOverflowError(tick, layout.maxTick);

    const limit = tenure.limit[s.lane];
    if (tick > limit.tick || (tick === limit.tick && sequence > limit.sequence)) {
      return new ReservationExhaustedError(tenure.workerId);
    }
    s.moveTo(tick, sequence);
    return undefined;
  }

  private exhausted(tick: number): RaindropError {
    this.counters.exhausted++;
    // With a borrowed tick the next one to come is the one after the clock's, not after the lane's.
    const next = Math.min(tick, this.tick) + 1;
    return new SequenceExhaustedError(tick, new Date(this.layout.timeline.startOf(next)));
  }

  private firstSequence(s: Sequencer): number {
    const { sequenceStart } = this.options;
    const size = this.layout.idsPerTick;
    if (sequenceStart === 'random') return Math.floor((this.ports.randomness.fraction() * size) / 4);
    if (sequenceStart === 'continue' && s.sequence + 1 < size / 2) return s.sequence + 1;
    return 0;
  }

  /** Notes up to where `s` may count without another look. */
  private remember(s: Sequencer, window: number): void {
    const { layout, tenure } = this;
    const [limit, soft] = [tenure.limit[s.lane], tenure.soft[s.lane]];
    let last = layout.maxSequence;
    if (s.tick === limit.tick) last = Math.min(last, limit.sequence);
    if (s.tick > soft.tick || (s.tick === soft.tick && s.sequence >= soft.sequence)) {
      if (s.lane === tenure.lane) tenure.requestExtension();
    } else if (s.tick === soft.tick) last = Math.min(last, soft.sequence);
    s.last = last;
    s.window = window;
    if (s.idBaseTick !== s.tick) {
      s.idBase = this.templates[s.lane] + (BigInt(s.tick) << this.tickShift);
      s.idBaseTick = s.tick;
    }
  }
}
