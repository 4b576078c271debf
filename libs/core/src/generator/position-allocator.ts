import type { Layout } from '../layout/layout.js';
import type { RaindropError } from '../raindrop-error.js';
import type { GeneratorPorts } from '../ports.js';
import { ClockBeforeEpochError, TimestampOverflowError } from '../layout/layout-errors.js';
import type { CodeTable } from './code-table.js';
import {
  ClockMovedBackError,
  exhaustedAdvice,
  ReservationExhaustedError,
  SequenceExhaustedError,
} from './generator-errors.js';
import type { ResolvedGeneratorOptions } from './generator-options.js';
import type { Sequencer } from './tick-cursor.js';
import { type Lane, otherLane, type PerLane, type Tenure } from './tenure.js';

/** A spinning read of the clock is given up after so many: a clock that stands still must not hang the process. */
const MAX_SPIN_READS = 100_000;

/**
 * Takes the steps: inside a {@link ClockWindow} a sequencer counts up with two comparisons, {@link PositionAllocator} is the long
 * way round, taken once for each window and code.
 */
export class Issuer {
  private readonly clockWindow: ClockWindow;
  private readonly allocator: PositionAllocator;
  /** How many calls may do with one look at the clock, and how many of them are left. */
  private readonly callsPerLook: number;
  private callsLeft = 0;

  constructor(
    readonly layout: Layout,
    private readonly tenure: Tenure,
    private readonly ports: GeneratorPorts,
    private readonly options: ResolvedGeneratorOptions,
    codes: CodeTable,
  ) {
    this.callsPerLook = ports.clock.share?.(() => (this.callsLeft = 0)) ?? 0;
    this.clockWindow = new ClockWindow(layout, tenure);
    this.allocator = new PositionAllocator(layout, tenure, this.clockWindow, codes, ports, options);
  }

  get counters(): Readonly<AllocationCounters> {
    return this.allocator.counters;
  }

  /**
   * Tells grants apart. What was taken under another one must not be handed out any more: it belongs to somebody's past,
   * and a copy of this process may have handed it out.
   */
  get grantKey(): string {
    const { number, base } = this.tenure;
    return [number, ...base.map(({ tick, sequence }) => `${tick}:${sequence}`)].join(' ');
  }

  /** The ID of the next position of `s`. @throws RaindropError when no position may be issued now */
  next(s: Sequencer): bigint {
    if (!this.advance(s)) this.slowPath(s);
    return s.counter[0]!;
  }

  /** Moves `s` one position on. @throws RaindropError when no position may be issued now */
  step(s: Sequencer): void {
    if (!this.advance(s)) this.slowPath(s);
  }

  /** The fast path: one position on inside the window. False when everything has to be looked at anew. */
  advance(s: Sequencer): boolean {
    if (--this.callsLeft < 0) this.readClock();
    return s.advance(this.clockWindow.id);
  }

  /** As {@link step}, but reads the real clock, never spins, and answers with the refusal. */
  tryStep(s: Sequencer): RaindropError | undefined {
    const now = this.ports.clock.refresh();
    if (now !== this.clockWindow.seen) this.clockWindow.observe(now);
    return this.allocator.allocate(s);
  }

  /** Why the next step of `s` would be refused now; undefined when it would not be. `s` stays where it is. */
  refusal(s: Sequencer): RaindropError | undefined {
    const counters = { ...this.allocator.counters };
    const refusal = this.tryStep(s.copy());
    Object.assign(this.allocator.counters, counters);
    return refusal;
  }

  /** A batch of so many did not fit into what is reserved: asks for room. */
  requestRoom(s: Sequencer, count: number): void {
    if (s.lane === this.tenure.lane) this.tenure.requestExtension(count);
  }

  /** How many more positions follow that of `s` without a gap and without another look at anything. */
  runLength(s: Sequencer): number {
    return s.runLength(this.clockWindow.id);
  }

  /** Looks at clock and tenure anew at the next step. */
  invalidate(): void {
    this.callsLeft = 0;
    this.clockWindow.invalidate();
  }

  private slowPath(s: Sequencer): void {
    const refusal = this.allocator.allocate(s);
    if (refusal !== undefined) this.lastResort(s, refusal);
  }

  private readClock(): void {
    const { clock } = this.ports;
    const now = this.callsPerLook > 0 ? clock.refresh() : clock.now();
    if (now !== this.clockWindow.seen) this.clockWindow.observe(now);
    this.callsLeft = this.callsPerLook;
  }

  /** A sync call's last resorts: the real clock, then at most one tick of a millisecond layout. */
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

  private spinUntilNextTick(): boolean {
    if (this.layout.unitMs !== 1) return false;
    const { clock, monotonic } = this.ports;
    const [before, start] = [this.clockWindow.wallMs, monotonic.now()];
    for (let reads = 0; reads < MAX_SPIN_READS; reads++) {
      // Asked before the clock is read: a thread that was held up in between finds the next millisecond.
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
    if (s.tenure !== tenure.number)
      s.beginTenure(tenure.number, tenure.lane, this.codes.floors(tenure), clockWindow.highestTick);
    else s.raise(tenure.base);

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
    // A held lane is timed: every call looks again. So it does after a request that changed the tenure.
    this.allowRun(s, held ? -1 : window);
    return undefined;
  }

  /** Goes over to the other lane where that one is still below the clock; asks for a reservation if there is none. */
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
    // With a borrowed tick the next one to come is the one after the clock's, not after the lane's.
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

  /** Notes up to where `s` may count without another look. */
  private allowRun(s: Sequencer, window: number): void {
    const { layout, tenure } = this;
    const [limit, soft] = [tenure.limit[s.lane], tenure.soft[s.lane]];
    let last = layout.maxSequence;
    if (s.tick === limit.tick) last = Math.min(last, limit.sequence);
    if (s.tick > soft.tick || (s.tick === soft.tick && s.sequence >= soft.sequence)) {
      if (s.lane === tenure.lane) tenure.requestExtension();
    } else if (s.tick === soft.tick) last = Math.min(last, soft.sequence);
    s.allow(last, window);
    if (s.isOnNewTick) {
      s.beginTick(this.clockWindow.idBase(s.lane, s.tick), layout.sequenceStep, s.tick < layout.safeTicks);
    }
    s.computeId(layout.sequenceStep);
  }
}

/**
 * What the present looks like: the tick of the clock, and whether and as whom IDs may be issued.
 *
 * A *window* is a stretch in which neither tick nor tenure changed; its number tells whether what was found out earlier
 * still holds. The clock is turned into a tick once for each window, the tenure is asked at every new value of the clock.
 */
class ClockWindow {
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
  invalidate(): void {
    this.id++;
    this.seen = Number.NaN;
  }

  /** Takes note of a new value of the clock. When that throws, the next call does it again: nothing is issued between. */
  observe(now: number): void {
    this.wallMs = now;
    this.seen = Number.NaN;
    this.update(now);
    this.seen = now;
  }

  /** The ID of sequence 0 at a place, under the present worker id. */
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
