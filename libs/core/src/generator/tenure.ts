import type { RaindropError } from '../raindrop-error.js';

/**
 * A worker id held for a time, and how far its holder may issue: the answer to "may I issue up to here?".
 *
 * The generator issues positions in `(base, limit]` of a lane and nothing else: with base 100 and limit 200 those from
 * 101 to 200. The implementation guarantees that no other process was ever granted one of them, and that no other
 * process ever will be. A service of `@raindrop/node` puts a generator and the keeper of a worker id together.
 *
 * Tenure, lease, worker, keeper, reservation and grant: CONTRIBUTING.md has the words, and one lease in time.
 */
export interface Tenure {
  /** The worker id of the present tenure; meaningless while `admit` refuses. */
  readonly workerId: number;
  /**
   * Counts tenures: a new number means a new worker id or a new grant of the old one, and every position starts anew.
   */
  readonly number: number;
  /** The lane that codes start on and that renewals extend. */
  readonly lane: Lane;
  /** Positions up to and including these may have been issued before, by any holder. They only rise within a tenure. */
  readonly base: PerLane<Position>;
  /** The last positions that may be issued. */
  readonly limit: PerLane<Position>;
  /** The generator asks for an extension as soon as it reaches these. */
  readonly renewThreshold: PerLane<Position>;
  /** True while a write that reserves the other lane is requested or under way. */
  readonly flipping: boolean;

  /**
   * The generator calls this whenever the clock's value has changed. The tenure also watches the clock for jumps here.
   * @returns undefined when IDs may be issued now, else why not
   */
  admit(wallMs: number): RaindropError | undefined;
  /**
   * Asks for a later limit on the current lane, in the background. Cheap to call often.
   * @param wanted the size of a batch that did not fit: the tenure is to reserve room for as many
   */
  requestExtension(wanted?: number): void;
  /** Asks for a reservation on `lane`, which then becomes the current one, in the background. Cheap to call often. */
  requestFlip(lane: Lane): void;
  /**
   * Names the one listener. The tenure must call it whenever anything above changed, in the same synchronous stretch:
   * until then the generator goes on with the values that it read before.
   */
  onChange(listener: () => void): void;
}

/** One of the two odometers of a worker, by the value of the clock-back bit in its IDs. */
export type Lane = 0 | 1;

/** A place on a lane. Positions are ordered by tick, then by sequence. */
export interface Position {
  readonly tick: number;
  readonly sequence: number;
}

/** A pair, one for each lane. */
export type PerLane<T> = readonly [T, T];

/** Below every position that a layout can have. */
export const BEFORE_ALL: Position = Object.freeze({ tick: Number.NEGATIVE_INFINITY, sequence: -1 });

/** Above every position that a layout can have. */
export const AFTER_ALL: Position = Object.freeze({ tick: Number.POSITIVE_INFINITY, sequence: -1 });

/** @returns a negative number when `a` comes before `b`, 0 when they are the same, else a positive one */
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

/**
 * Holds a worker id given by hand, for ever and without a reservation.
 *
 * A flip needs no reservation. Nothing remembers what was issued: when the process restarts and the clock stands at a
 * tick that the process had reached before, IDs repeat. Use a leased worker wherever that can happen.
 */
export class StaticTenure implements Tenure {
  readonly number = 1;
  readonly base: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];
  readonly limit: PerLane<Position> = [AFTER_ALL, AFTER_ALL];
  readonly renewThreshold: PerLane<Position> = [AFTER_ALL, AFTER_ALL];
  readonly flipping = false;

  constructor(
    readonly workerId: number,
    readonly lane: Lane = 0,
  ) {}

  admit(): RaindropError | undefined {
    return undefined;
  }

  requestExtension(): void {}

  requestFlip(): void {}

  onChange(): void {}
}
