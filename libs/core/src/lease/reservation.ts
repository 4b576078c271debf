import { isCoarse } from '../time/timeline.js';
import {
  AFTER_ALL,
  BEFORE_ALL,
  comparePositions,
  type Lane,
  maxPosition,
  otherLane,
  type PerLane,
  type Position,
} from '../generator/tenure.js';
import type { Layout } from '../layout/layout.js';
import type { MonotonicClock } from '../ports.js';
import { odometersOf } from './odometer.js';
import type { Odometer } from './worker-store.js';

/** The range that one write of the row reserves, if the write is executed: everything from `base` to `limit`. */
export interface Grant {
  readonly lane: Lane;
  readonly base: PerLane<Position>;
  readonly limit: PerLane<Position>;
  readonly renewThreshold: PerLane<Position>;
  readonly odometers: PerLane<Odometer>;
}

/** Where a lease starts on a row. */
export interface StartPoint {
  readonly lane: Lane;
  readonly base: PerLane<Position>;
  /** The ms of the row's odometers, which no later write may lower. */
  readonly odometerMs: PerLane<number>;
}

/** The inputs of the next grant. */
interface Demand {
  readonly nowMs: number;
  readonly horizonMs: number;
  /** The highest position issued, by lane. */
  readonly used: PerLane<Position>;
  /** IDs per ms of the fastest code. */
  readonly rate: number;
  /** The largest batch that was asked for. */
  readonly batch: number;
}

/**
 * The positions that a holder may issue without another write: the sum of its grants. This is arithmetic only, without
 * I/O, and decides nothing about the lease.
 *
 * Example: ticks of 1 ms and a horizon of 65 s. A renewal at tick 1,000,000 grants up to limit 1,065,000. The
 * generator asks for the next grant at renewThreshold 1,032,500, half a horizon before the limit. The write stores the
 * limit in the row's odometer: the next holder starts after it.
 */
export class Reservation {
  lane: Lane = 0;
  base: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];
  limit: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];
  renewThreshold: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];
  private odometerMs: PerLane<number> = [0, 0];

  constructor(private readonly layout: Layout) {}

  /** The first grant on a row. */
  firstGrant(start: StartPoint, now: { nowMs: number; horizonMs: number }): Grant {
    return this.grant(start.lane, start.base, start.base, start.odometerMs, {
      ...now,
      used: start.base,
      rate: 0,
      batch: 1,
    });
  }

  /** The only grant on a row for the past: to the end of the tick of `toMs`. */
  pastGrant(start: StartPoint, toMs: number): Grant {
    const { timeline, maxSequence } = this.layout;
    const { lane, base } = start;
    const limit = withLane(base, lane, maxPosition(base[lane], { tick: timeline.tickAt(toMs), sequence: maxSequence }));
    return { lane, base, limit, renewThreshold: limit, odometers: odometersOf(limit, this.layout, start.odometerMs) };
  }

  begin(start: StartPoint, grant: Grant): void {
    this.odometerMs = start.odometerMs;
    this.apply(grant);
  }

  /** The next grant on `lane`; the other lane stays as it is. */
  nextGrant(lane: Lane, demand: Demand): Grant {
    return this.grant(lane, this.base, this.limit, this.odometerMs, demand);
  }

  /**
   * A grant after everything granted so far is given up: a copy of this process may have issued it.
   * Undefined when neither lane is below the clock then.
   */
  grantAfterSuspicion(firstLane: Lane, demand: Demand): Grant | undefined {
    const { allGranted } = this;
    const lane = usableLane(allGranted, this.layout, demand.nowMs, firstLane);
    return lane === undefined
      ? undefined
      : this.grant(lane, allGranted, allGranted, this.odometerMs, { ...demand, used: allGranted });
  }

  /** The write of the grant was executed. */
  apply(grant: Grant): void {
    this.lane = grant.lane;
    this.base = grant.base;
    this.limit = grant.limit;
    this.renewThreshold = grant.renewThreshold;
  }

  /** The odometers that a release leaves: the highest positions `used`, or the base where nothing was. */
  releasedOdometers(used: PerLane<Position>): PerLane<Odometer> {
    const left = [maxPosition(this.base[0], used[0]), maxPosition(this.base[1], used[1])] as const;
    return odometersOf(left, this.layout, this.odometerMs);
  }

  /** The odometers that a release leaves when all that was granted may have been issued. */
  get exhaustedOdometers(): PerLane<Odometer> {
    return odometersOf(this.allGranted, this.layout, this.odometerMs);
  }

  /** The end of everything granted so far, by lane. */
  private get allGranted(): PerLane<Position> {
    return [maxPosition(this.base[0], this.limit[0]), maxPosition(this.base[1], this.limit[1])];
  }

  private grant(
    lane: Lane,
    base: PerLane<Position>,
    from: PerLane<Position>,
    odometerMs: PerLane<number>,
    demand: Demand,
  ): Grant {
    const basis: LimitBasis = { ...demand, current: from[lane], used: demand.used[lane] };
    const next = nextLimit(this.layout, basis);
    const limit = withLane(from, lane, next);
    const renewThreshold = withLane(from, lane, renewThresholdOf(this.layout, next, basis));
    return { lane, base, limit, renewThreshold, odometers: odometersOf(limit, this.layout, odometerMs) };
  }
}

/**
 * The lane that a new lease takes: of the lanes whose odometer is below the present the higher one, so that the other
 * stays low for rollbacks of the clock; `firstLane` when they are equal; undefined when neither is below the present.
 */
export function usableLane(base: PerLane<Position>, layout: Layout, nowMs: number, firstLane: Lane): Lane | undefined {
  const end: Position = { tick: layout.timeline.tickAt(nowMs), sequence: layout.maxSequence };
  return laneBelow(base, layout, end, firstLane);
}

/** As {@link usableLane}, with any end that the odometer has to be below. */
export function laneBelow(base: PerLane<Position>, layout: Layout, end: Position, firstLane: Lane): Lane | undefined {
  const isUsable = (lane: Lane): boolean => comparePositions(base[lane], end) < 0;
  if (!layout.hasClockBack) return isUsable(0) ? 0 : undefined;
  const order = comparePositions(base[0], base[1]);
  const higher: Lane = order === 0 ? firstLane : order > 0 ? 0 : 1;
  return [higher, otherLane(higher)].find(isUsable);
}

function withLane(pair: PerLane<Position>, lane: Lane, position: Position): PerLane<Position> {
  return lane === 0 ? [position, pair[1]] : [pair[0], position];
}

/** The largest block, unless a thousandth of the tick is more. */
const MAX_BLOCK = 2 ** 20;

/** The inputs of a limit. */
export interface LimitBasis {
  /** The clock, validated and clamped to the database's. */
  readonly nowMs: number;
  readonly horizonMs: number;
  /** The lane's present limit, or its base. */
  readonly current: Position;
  /** The highest position issued on the lane. */
  readonly used: Position;
  /** IDs per ms of the fastest code. */
  readonly rate: number;
  /** The largest batch that was asked for. */
  readonly batch: number;
}

/** The last position of the next grant; never below `current`. */
export function nextLimit(layout: Layout, basis: LimitBasis): Position {
  const { timeline, maxSequence, maxTick } = layout;
  const { nowMs, horizonMs, current } = basis;
  const horizonTick = Math.min(timeline.tickAt(nowMs + horizonMs), maxTick);
  if (!isCoarse(layout)) return maxPosition(current, { tick: horizonTick, sequence: maxSequence });

  const tick = timeline.tickAt(nowMs);
  const block = blockSize(layout, basis);
  if (horizonTick > tick) {
    return current.tick >= horizonTick ? current : { tick: horizonTick, sequence: Math.min(block - 1, maxSequence) };
  }
  if (current.tick < tick) return { tick, sequence: Math.min(block - 1, maxSequence) };
  if (current.tick > tick) return current;
  const used = basis.used.tick === tick ? basis.used.sequence : -1;
  const hasEnough = current.sequence - used > block / 2;
  return hasEnough ? current : { tick, sequence: Math.min(Math.max(current.sequence, used + block), maxSequence) };
}

/**
 * The position past which the generator asks for the next grant: half the horizon, or half a block, before the limit.
 * It never asks where a renewal yields no more: the next coarse tick comes with the heartbeat, and no layout outlives
 * its end.
 */
export function renewThresholdOf(layout: Layout, limit: Position, basis: LimitBasis): Position {
  if (limit.sequence >= layout.maxSequence && (isCoarse(layout) || limit.tick >= layout.maxTick)) return AFTER_ALL;
  if (!isCoarse(layout)) {
    return { tick: limit.tick - Math.floor(basis.horizonMs / 2 / layout.unitMs), sequence: -1 };
  }
  return { tick: limit.tick, sequence: limit.sequence - Math.floor(blockSize(layout, basis) / 2) };
}

/** IDs of one block: enough for twice the horizon at the fastest code's rate, and for two batches. */
function blockSize(layout: Layout, { rate, horizonMs, batch }: LimitBasis): number {
  const least = Math.max(1, Math.floor(layout.idsPerTick / 1_024), batch === 1 ? 1 : 2 * batch);
  return Math.max(least, Math.min(Math.ceil(2 * horizonMs * rate), MAX_BLOCK));
}

/** How fast the fastest code counts up, measured from one renewal to the next inside a tick. */
export class IssueRate {
  private last: { readonly position: Position; readonly atMs: number } | undefined;
  private perMs = 0;

  constructor(private readonly monotonic: MonotonicClock) {}

  /**
   * IDs per ms. The rate falls by half at most from one measurement to the next, so that the first block after a quiet
   * minute is not too small.
   */
  measure(highest: Position): number {
    const atMs = this.monotonic.now();
    if (this.last !== undefined && this.last.position.tick === highest.tick) {
      const measured = (highest.sequence - this.last.position.sequence) / Math.max(1, atMs - this.last.atMs);
      this.perMs = Math.max(measured, this.perMs / 2);
    }
    this.last = { position: highest, atMs };
    return this.perMs;
  }

  restart(): void {
    this.last = undefined;
  }
}
