import type { RaindropError } from '../raindrop-error.js';
import { AFTER_ALL, BEFORE_ALL, type Lane, type PerLane, type Position } from './position.js';
import type { Tenure } from './tenure.js';

/**
 * Holds a worker id given by hand, for ever and without a reservation.
 *
 * Flips are immediate. Nothing remembers what was issued: when the process restarts while the clock stands where the
 * last process already was, IDs repeat. Use a leased worker wherever that can happen.
 */
export class StaticTenure implements Tenure {
  readonly number = 1;
  readonly base: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];
  readonly limit: PerLane<Position> = [AFTER_ALL, AFTER_ALL];
  readonly soft: PerLane<Position> = [AFTER_ALL, AFTER_ALL];
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
