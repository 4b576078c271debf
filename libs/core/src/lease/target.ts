import { AFTER_ALL, maxPosition, type Position } from '../generator/position.js';
import type { Layout } from '../layout/layout.js';

/** Units from a minute on are granted in blocks of sequences, shorter ones in whole ticks. */
const COARSE_MS = 60_000;

/** The largest block, unless a thousandth of the tick is more. */
const MAX_BLOCK = 2 ** 20;

/** What a target is computed from. */
export interface TargetBasis {
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

export function isCoarse(layout: Layout): boolean {
  return layout.unitMs >= COARSE_MS;
}

/** Up to where a grant should reach; never below `current`. */
export function targetOf(layout: Layout, basis: TargetBasis): Position {
  const { timeline, maxSequence, maxTick } = layout;
  const { nowMs, horizonMs, current } = basis;
  const horizonTick = Math.min(timeline.tickAt(nowMs + horizonMs), maxTick);
  if (!isCoarse(layout)) return maxPosition(current, { tick: horizonTick, sequence: maxSequence });

  const tick = timeline.tickAt(nowMs);
  const block = blockOf(layout, basis);
  if (horizonTick > tick) {
    return current.tick >= horizonTick ? current : { tick: horizonTick, sequence: Math.min(block - 1, maxSequence) };
  }
  if (current.tick < tick) return { tick, sequence: Math.min(block - 1, maxSequence) };
  if (current.tick > tick) return current;
  const used = basis.used.tick === tick ? basis.used.sequence : -1;
  const wellStocked = current.sequence - used > block / 2;
  return wellStocked ? current : { tick, sequence: Math.min(Math.max(current.sequence, used + block), maxSequence) };
}

/**
 * Past this position the next grant should be asked for: half the horizon, or half a block, before the limit. Nowhere
 * when asking yields nothing more: the rest of a coarse tick, and of the layout's life, comes with the heartbeat.
 */
export function softOf(layout: Layout, limit: Position, basis: TargetBasis): Position {
  if (limit.sequence >= layout.maxSequence && (isCoarse(layout) || limit.tick >= layout.maxTick)) return AFTER_ALL;
  if (!isCoarse(layout)) {
    return { tick: limit.tick - Math.floor(basis.horizonMs / 2 / layout.unitMs), sequence: -1 };
  }
  return { tick: limit.tick, sequence: limit.sequence - Math.floor(blockOf(layout, basis) / 2) };
}

/** Enough for twice the time until the next renewal is overdue, at the fastest code's rate, and for two batches. */
function blockOf(layout: Layout, { rate, horizonMs, batch }: TargetBasis): number {
  const least = Math.max(1, Math.floor(layout.idsPerTick / 1_024), batch === 1 ? 1 : 2 * batch);
  return Math.max(least, Math.min(Math.ceil(2 * horizonMs * rate), MAX_BLOCK));
}
