/** One of the two odometers of a worker; the value of the clock-back bit. */
export type Lane = 0 | 1;

/** A place on a lane. Positions are ordered by tick, then by sequence. */
export interface Position {
  readonly tick: number;
  readonly sequence: number;
}

/** A pair, one for each lane. */
export type PerLane<T> = readonly [T, T];

/** Below every position a layout can have. */
export const BEFORE_ALL: Position = Object.freeze({ tick: Number.NEGATIVE_INFINITY, sequence: -1 });

/** Above every position a layout can have. */
export const AFTER_ALL: Position = Object.freeze({ tick: Number.POSITIVE_INFINITY, sequence: -1 });

/** Negative when `a` comes before `b`, 0 when they are the same. */
export function comparePositions(a: Position, b: Position): number {
  if (a.tick !== b.tick) return a.tick < b.tick ? -1 : 1;
  return a.sequence - b.sequence;
}

export function maxPosition(a: Position, b: Position): Position {
  return comparePositions(a, b) >= 0 ? a : b;
}

export function otherLane(lane: Lane): Lane {
  return lane === 0 ? 1 : 0;
}
