import type { Layout } from '../layout/layout.js';
import { ClockBeforeEpochError, TimestampOverflowError } from '../layout/layout-errors.js';
import type { RaindropError } from '../raindrop-error.js';
import type { ClockWindow } from './clock-window.js';
import type { CodeTable } from './code-table.js';
import {
  ClockMovedBackError,
  exhaustedAdvice,
  ReservationExhaustedError,
  SequenceExhaustedError,
} from './generator-errors.js';
import type { ResolvedGeneratorOptions } from './generator-options.js';
import type { GeneratorPorts } from './generator-ports.js';
import { otherLane } from './position.js';
import type { Sequencer } from './sequencer.js';
import type { Tenure } from './tenure.js';

/** How often something happened since the start. */
export interface PlacementCounters {
  /** A code went over to its other lane because the clock went back. */
  flips: number;
  /** A call found the clock behind its lane and stayed on it. */
  holds: number;
  /** A call found its tick used up and could not borrow. */
  exhausted: number;
}

/** Decides which position comes next: clock -> tick -> lane -> position, inside what the tenure grants. */
export class Placement {
  readonly counters: PlacementCounters = { flips: 0, holds: 0, exhausted: 0 };
  private readonly borrowTicks: number;
  private readonly advice: string;

  constructor(
    private readonly layout: Layout,
    private readonly tenure: Tenure,
    private readonly present: ClockWindow,
    private readonly codes: CodeTable,
    private readonly ports: GeneratorPorts,
    private readonly options: ResolvedGeneratorOptions,
  ) {
    this.borrowTicks =
      options.onExhausted === 'borrow' ? Math.max(1, Math.floor(options.maxAheadMs / layout.unitMs)) : 0;
    this.advice = exhaustedAdvice(options.onExhausted, layout.unitMs);
  }

  /** Finds the next position of `s` and moves it there, or says why there is none. */
  place(s: Sequencer): RaindropError | undefined {
    const { tenure, present } = this;
    if (present.refusal !== undefined) return present.refusal;
    const { tick: now, id: window } = present;
    if (s.tenure !== tenure.number) s.begin(tenure.number, tenure.lane, this.codes.floors(tenure), present.highestTick);
    else s.raise(tenure.base);

    let ahead = now + this.borrowTicks;
    let held = false;
    if (s.tick <= now || (now >= s.wallTick && s.tick <= ahead)) {
      // A tick borrowed ahead of a healthy clock is not a rollback.
      s.follow(now);
    } else if (!this.flip(s)) {
      const heldMs = s.hold(this.ports.monotonic.now());
      this.counters.holds++;
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
      s.stop();
      return refusal;
    }
    // A held lane is timed: every call looks again. So it does after a request that changed the tenure.
    this.remember(s, held ? -1 : window);
    return undefined;
  }

  /** Goes over to the other lane where that one is still below the clock; asks for a reservation if there is none. */
  private flip(s: Sequencer): boolean {
    if (!this.layout.hasClockBack || s.resting.tick >= this.present.tick) return false;
    const lane = otherLane(s.lane);
    const limit = this.tenure.limit[lane];
    if (limit.tick < this.present.tick || (limit.tick === this.present.tick && limit.sequence < 0)) {
      this.tenure.requestFlip(lane);
      return false;
    }
    s.flip(this.present.tick);
    this.counters.flips++;
    return true;
  }

  private movedBack(s: Sequencer): RaindropError {
    const behindMs = this.layout.timeline.startOf(s.tick) - this.present.wallMs;
    return new ClockMovedBackError(s.tick, this.present.tick, Math.max(1, behindMs));
  }

  private advance(s: Sequencer, ahead: number): RaindropError | undefined {
    const { layout, tenure } = this;
    let { tick } = s;
    let sequence = s.sequence + 1;
    if (tick < this.present.tick) {
      tick = this.present.tick;
      sequence = this.firstSequence(s);
    } else if (sequence > layout.maxSequence) {
      if (tick + 1 > ahead) return this.exhausted(tick);
      tick++;
      sequence = this.firstSequence(s);
    }
    if (tick < 0) return new ClockBeforeEpochError(this.present.wallMs, layout.epochMs);
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
    const next = Math.min(tick, this.present.tick) + 1;
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
  private remember(s: Sequencer, window: number): void {
    const { layout, tenure } = this;
    const [limit, soft] = [tenure.limit[s.lane], tenure.soft[s.lane]];
    let last = layout.maxSequence;
    if (s.tick === limit.tick) last = Math.min(last, limit.sequence);
    if (s.tick > soft.tick || (s.tick === soft.tick && s.sequence >= soft.sequence)) {
      if (s.lane === tenure.lane) tenure.requestExtension();
    } else if (s.tick === soft.tick) last = Math.min(last, soft.sequence);
    s.allow(last, window);
    if (s.isOnNewTick) {
      s.useIds(this.present.idBase(s.lane, s.tick), layout.sequenceStep, s.tick < layout.safeTicks);
    }
    s.compose(layout.sequenceStep);
  }
}
