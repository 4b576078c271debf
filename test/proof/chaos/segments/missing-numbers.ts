import { difference, intersection, sizeOf, union, type Interval, type Intervals } from './intervals.js';
import type { ProcessRecord, RecordedCall } from './process-record.js';

/** Why numbers are lost. */
export type LossKind =
  /** At hand in a process that was killed. */
  | 'killed'
  /** At hand at an orderly end, and not the last that were reserved. */
  | 'shutdown'
  /** Reserved by a call whose answer never came. */
  | 'unanswered'
  /** Came to a process that had got higher numbers before, from a later call. */
  | 'overtaken'
  /** In Redis when it lost its memory. */
  | 'redisLost'
  /** Meant for Redis, or taken out of it, when it was out of reach for a process. */
  | 'redisCut'
  /** Passed over in Redis, because a process had reserved above them meanwhile. */
  | 'redisPassed'
  /** In Redis when a process cleared it, which found the app new at the same moment as the one that put them there. */
  | 'redisCleared'
  /** In Redis at the end. */
  | 'redisLeft';

/** Numbers that are not accounted for yet, and those that are, by kind. */
export class Missing {
  readonly explained: Partial<Record<LossKind, number>> = {};

  constructor(public left: Intervals) {}

  /** Takes what lies in these ranges for explained. */
  explain(kind: LossKind, ranges: Iterable<Interval>): void {
    const found = intersection(this.left, union(ranges));
    if (found.length === 0) return;
    this.explained[kind] = (this.explained[kind] ?? 0) + sizeOf(found);
    this.left = difference(this.left, found);
  }
}

/** What a process had of a key, without what it gave back. */
export interface Held extends Interval {
  readonly process: ProcessRecord;
  readonly call: RecordedCall;
}

/** A call, and the process that made it. */
export type CallOf = readonly [process: ProcessRecord, call: RecordedCall];
