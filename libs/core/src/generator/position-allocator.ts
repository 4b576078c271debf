import { ClockBeforeEpochError, TimestampOverflowError } from '../layout/layout-errors.js';
import type { Layout } from '../layout/layout.js';
import type { GeneratorPorts } from '../ports.js';
import type { RaindropError } from '../raindrop-error.js';
import type { CodeTable } from './code-table.js';
import {
  ClockMovedBackError,
  exhaustedAdvice,
  ReservationExhaustedError,
  SequenceExhaustedError,
  UnsafeIntegerError,
} from './generator-errors.js';
import type { ResolvedGeneratorOptions } from './generator-options.js';
import { type Lane, otherLane, type PerLane, type Tenure } from './tenure.js';
import { decimalText, Sequencer } from './tick-cursor.js';

/** Spinning ends after this many reads of the clock: a clock that stands still must not hang the process. */
const MAX_SPIN_READS = 100_000;

/**
 * Moves sequencers to the next position. Inside a {@link ClockWindow} a sequencer counts up by itself, the fast path;
 * {@link PositionAllocator} is the slow path, taken once for each window and code.
 */
export class Issuer {
  private readonly clockWindow: ClockWindow;
  private readonly allocator: PositionAllocator;
  /** How many calls may follow one reading of the clock and use its value, and how many of them are left. */
  private readonly callsPerReading: number;
  private callsLeft = 0;
  /** Beside the other fields of the fast path: each object on the way costs an ID half a nanosecond. */
  readonly sequenceStep: number;
  /** Where a sequencer stood before a step that may be taken back. */
  private readonly before = new Sequencer();

  constructor(
    readonly layout: Layout,
    private readonly tenure: Tenure,
    private readonly ports: GeneratorPorts,
    private readonly options: ResolvedGeneratorOptions,
    codes: CodeTable,
  ) {
    this.sequenceStep = layout.sequenceStep;
    this.callsPerReading = ports.clock.share?.(() => (this.callsLeft = 0)) ?? 0;
    this.clockWindow = new ClockWindow(layout, tenure);
    this.allocator = new PositionAllocator(layout, tenure, this.clockWindow, codes, ports, options);
  }

  get counters(): Readonly<AllocationCounters> {
    return this.allocator.counters;
  }

  /**
   * Tells grants apart. Positions that were taken under another grant must not be handed out any more: they may lie in
   * the past of another holder, and a copy of this process may have handed them out.
   */
  get grantKey(): string {
    const { number, base } = this.tenure;
    return [number, ...base.map(({ tick, sequence }) => `${tick}:${sequence}`)].join(' ');
  }

  /** Moves `s` one position on. @returns its ID. @throws RaindropError when no position may be issued now */
  next(s: Sequencer): bigint {
    if (!this.advance(s)) this.slowPath(s);
    return s.counter[0]!;
  }

  /** As {@link next}, as decimal text. */
  nextText(s: Sequencer): string {
    if (!this.advance(s)) this.slowPath(s);
    return decimalText(s, this.sequenceStep);
  }

  /** As {@link next}, as a number. @throws UnsafeIntegerError above 2^53 - 1; `s` stays where it is */
  nextNumber(s: Sequencer): number {
    // The tick does not change inside a window: after a safe number follow safe ones.
    if (Number.isNaN(s.numberBase) || !this.advance(s)) this.slowPathToNumber(s);
    return s.numberBase + s.sequence * this.sequenceStep;
  }

  /** The fast path: moves `s` one position on inside the window. False when the slow path has to. */
  private advance(s: Sequencer): boolean {
    if (--this.callsLeft < 0) this.readClock();
    return s.advance(this.clockWindow.id);
  }

  /** Moves `s` one position on as {@link next} does, but reads the real clock, never spins, and returns the refusal. */
  tryStep(s: Sequencer): RaindropError | undefined {
    const now = this.ports.clock.refresh();
    if (now !== this.clockWindow.seen) this.clockWindow.observe(now);
    return s.advance(this.clockWindow.id) ? undefined : this.allocator.allocate(s);
  }

  /** Why the next step of `s` would be refused now; undefined when it would not be. `s` stays where it is. */
  refusal(s: Sequencer): RaindropError | undefined {
    const counters = { ...this.allocator.counters };
    const refusal = this.tryStep(s.copy());
    Object.assign(this.allocator.counters, counters);
    return refusal;
  }

  /** A batch of `count` IDs did not fit into the reservation: asks for room for as many. */
  requestRoom(s: Sequencer, count: number): void {
    if (s.lane === this.tenure.lane) this.tenure.requestExtension(count);
  }

  /** How many positions in a row the fast path may take after that of `s`. */
  runLength(s: Sequencer): number {
    return s.runLength(this.clockWindow.id);
  }

  /** The next step reads the clock and asks the tenure anew. */
  invalidate(): void {
    this.callsLeft = 0;
    this.clockWindow.invalidate();
  }

  private slowPath(s: Sequencer): void {
    const refusal = this.allocator.allocate(s);
    if (refusal !== undefined) this.lastResort(s, refusal);
  }

  /** Takes the step back when the new ID does not fit a number. */
  private slowPathToNumber(s: Sequencer): void {
    this.before.restore(s);
    if (!this.advance(s)) this.slowPath(s);
    if (!Number.isNaN(s.numberBase)) return;
    s.restore(this.before);
    throw new UnsafeIntegerError(this.layout.safeUntil);
  }

  private readClock(): void {
    const { clock } = this.ports;
    const now = this.callsPerReading > 0 ? clock.refresh() : clock.now();
    if (now !== this.clockWindow.seen) this.clockWindow.observe(now);
    this.callsLeft = this.callsPerReading;
  }

  /** Before a sync call throws, it reads the real clock, and then spins for the next tick of a millisecond layout. */
  private lastResort(s: Sequencer, refusal: RaindropError): void {
    const { clock } = this.ports;
    const before = this.clockWindow.seen;
    const now = clock.refresh();
    let last: RaindropError | undefined = refusal;
    if (now !== before) {
      this.clockWindow.observe(now);
      last = this.allocator.allocate(s);
    }
    if (last instanceof SequenceExhaustedError && this.options.onExhausted !== 'throw' && this.spinUntilNextTick()) {
      last = this.allocator.allocate(s);
    }
    if (last !== undefined) throw last;
  }

  /** Reads the clock until it changes, for a little more than 1 ms at most. @returns whether it changed */
  private spinUntilNextTick(): boolean {
    if (this.layout.unitMs !== 1) return false;
    const { clock, monotonic } = this.ports;
    const [before, start] = [this.clockWindow.wallMs, monotonic.now()];
    for (let reads = 0; reads < MAX_SPIN_READS; reads++) {
      // Checked before the clock is read: a thread that was suspended in between still finds the next millisecond.
      const isLast = monotonic.now() - start > 1;
      const now = clock.refresh();
      if (now !== before) {
        this.clockWindow.observe(now);
        return true;
      }
      if (isLast) return false;
    }
    return false;
  }
}

/** How often something happened since the start. */
export interface AllocationCounters {
  /** A code went over to its other lane because the clock went back. */
  flips: number;
  /** A call found the clock behind its lane and stayed on it. */
  holds: number;
  /** A call found its tick used up and could not borrow. */
  exhausted: number;
}

/** Decides which position comes next: clock -> tick -> lane -> position, inside what the tenure grants. */
export class PositionAllocator {
  readonly counters: AllocationCounters = { flips: 0, holds: 0, exhausted: 0 };
  private readonly borrowTicks: number;
  private readonly advice: string;

  constructor(
    private readonly layout: Layout,
    private readonly tenure: Tenure,
    private readonly clockWindow: ClockWindow,
    private readonly codes: CodeTable,
    private readonly ports: GeneratorPorts,
    private readonly options: ResolvedGeneratorOptions,
  ) {
    this.borrowTicks =
      options.onExhausted === 'borrow' ? Math.max(1, Math.floor(options.maxAheadMs / layout.unitMs)) : 0;
    this.advice = exhaustedAdvice(options.onExhausted, layout.unitMs);
  }

  /** Finds the next position of `s` and moves it there, or says why there is none. */
  allocate(s: Sequencer): RaindropError | undefined {
    const { tenure, clockWindow } = this;
    if (clockWindow.refusal !== undefined) return clockWindow.refusal;
    const { tick: now, id: window } = clockWindow;
    if (s.tenure === tenure.number) s.raise(tenure.base);
    else s.beginTenure(tenure.number, tenure.lane, this.codes.bases(tenure), clockWindow.highestTick);

    let ahead = now + this.borrowTicks;
    let held = false;
    if (s.tick <= now || (now >= s.wallTick && s.tick <= ahead)) {
      // A tick borrowed ahead of a healthy clock is not a rollback.
      s.followClock(now);
    } else if (!this.flip(s)) {
      const heldMs = s.hold(this.ports.monotonic.now());
      this.counters.holds++;
      if (heldMs > this.options.maxHoldMs && !tenure.flipping) return this.movedBack(s);
      ahead = s.heldTick + Math.floor(heldMs / this.layout.unitMs) + this.borrowTicks;
      held = true;
    }

    let refusal = this.takeNext(s, ahead);
    if (refusal instanceof ReservationExhaustedError) {
      if (s.lane === tenure.lane) tenure.requestExtension();
      else if (this.flip(s)) {
        // Renewals extend the worker's current lane only: a code left on the other one moves over.
        held = false;
        refusal = this.takeNext(s, now + this.borrowTicks);
      } else if (s.resting.tick >= now) tenure.requestFlip(s.lane);
    }
    if (refusal !== undefined) {
      s.stop();
      return refusal;
    }
    // A held lane looks at the clock at every call: window -1 is no real one, and switches the fast path off.
    // After a request above that changed the tenure the window has ended, too.
    this.allowRun(s, held ? -1 : window);
    return undefined;
  }

  /**
   * Changes to the other lane if its mark is still below the clock; asks for a reservation on it if there is none.
   * @returns whether it changed
   */
  private flip(s: Sequencer): boolean {
    if (!this.layout.hasClockBack || s.resting.tick >= this.clockWindow.tick) return false;
    const lane = otherLane(s.lane);
    const limit = this.tenure.limit[lane];
    if (limit.tick < this.clockWindow.tick || (limit.tick === this.clockWindow.tick && limit.sequence < 0)) {
      this.tenure.requestFlip(lane);
      return false;
    }
    s.flip(this.clockWindow.tick);
    this.counters.flips++;
    return true;
  }

  private movedBack(s: Sequencer): RaindropError {
    const behindMs = this.layout.timeline.startOf(s.tick) - this.clockWindow.wallMs;
    return new ClockMovedBackError(s.tick, this.clockWindow.tick, Math.max(1, behindMs));
  }

  /** Moves `s` one position on without beginning a tick after `ahead`, or returns why it cannot. */
  private takeNext(s: Sequencer, ahead: number): RaindropError | undefined {
    const { layout, tenure } = this;
    let { tick } = s;
    let sequence = s.sequence + 1;
    if (tick < this.clockWindow.tick) {
      tick = this.clockWindow.tick;
      sequence = this.firstSequence(s);
    } else if (sequence > layout.maxSequence) {
      if (tick + 1 > ahead) return this.exhausted(tick);
      tick++;
      sequence = this.firstSequence(s);
    }
    if (tick < 0) return new ClockBeforeEpochError(this.clockWindow.wallMs, layout.epochMs);
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
    // While ticks are borrowed, one more may be borrowed as soon as the clock's next tick begins.
    const next = Math.min(tick, this.clockWindow.tick) + 1;
    return new SequenceExhaustedError(tick, new Date(this.layout.timeline.startOf(next)), this.advice);
  }

  private firstSequence(s: Sequencer): number {
    const { sequenceStart } = this.options;
    const size = this.layout.idsPerTick;
    if (sequenceStart === 'random') return Math.floor((this.ports.randomness.fraction() * size) / 4);
    if (sequenceStart === 'continue' && s.sequence + 1 < size / 2) return s.sequence + 1;
    return 0;
  }

  /**
   * Lets the fast path of `s` go up to the end of the tick, the limit or the renewal threshold, whichever comes
   * first. Past the renewal threshold it asks for an extension instead.
   */
  private allowRun(s: Sequencer, window: number): void {
    const { layout, tenure } = this;
    const [limit, threshold] = [tenure.limit[s.lane], tenure.renewThreshold[s.lane]];
    let last = layout.maxSequence;
    if (s.tick === limit.tick) last = Math.min(last, limit.sequence);
    if (s.tick > threshold.tick || (s.tick === threshold.tick && s.sequence >= threshold.sequence)) {
      if (s.lane === tenure.lane) tenure.requestExtension();
    } else if (s.tick === threshold.tick) last = Math.min(last, threshold.sequence);
    s.allow(last, window);
    if (s.isOnNewTick) {
      s.beginTick(this.clockWindow.idBase(s.lane, s.tick), layout.sequenceStep, s.tick < layout.safeTicks);
    }
    s.computeId(layout.sequenceStep);
  }
}

/**
 * The tick of the clock, whether the tenure admits IDs at this time, and the bits of its worker id.
 *
 * A *window* is a stretch of time in which neither tick nor tenure changed; its number tells a sequencer whether its
 * fast path still holds. The clock is converted into a tick once a window; the tenure is asked at every new value of
 * the clock.
 */
class ClockWindow {
  /** The number of the present window. */
  id = 0;
  /** The value of the clock that was observed last; NaN when the next step must observe it again. */
  seen = Number.NaN;
  /** The clock, ms. */
  wallMs = Number.NaN;
  /** The tick of the clock. */
  tick = Number.NEGATIVE_INFINITY;
  /** The highest tick of the clock in this tenure. */
  highestTick = Number.NEGATIVE_INFINITY;
  /** Why no ID may be issued now; undefined when IDs may be. */
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

  /** Ends the window: the next step observes clock and tenure anew. */
  invalidate(): void {
    this.id++;
    this.seen = Number.NaN;
  }

  /** Takes a new value of the clock. When this throws, the next call observes again: nothing is issued in between. */
  observe(now: number): void {
    this.wallMs = now;
    this.seen = Number.NaN;
    this.update(now);
    this.seen = now;
  }

  /** The ID of sequence 0 of a tick on a lane, under the present worker id. */
  idBase(lane: Lane, tick: number): bigint {
    return this.templates[lane] + (BigInt(tick) << this.tickShift);
  }

  private update(now: number): void {
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
