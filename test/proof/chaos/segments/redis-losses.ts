import type { ChaosEvent } from '../chaos-tally.js';
import type { CallOf, Held, Missing } from './missing-numbers.js';
import { intersection, sizeOf, type Interval, type Intervals } from './intervals.js';
import type { ProcessRecord } from './process-record.js';
import { REDIS_RUN } from './segment-messages.js';

/** A range that a process reserved to put it into Redis, and what others have had of it. */
interface Refill extends Interval {
  readonly process: ProcessRecord;
  readonly at: number;
  readonly runs: readonly Held[];
}

/** How long after a fault its consequences still come: a call that began before its end may take so long. */
const AFTERMATH_MS = 1_000;

/**
 * Numbers that were reserved for Redis and reached no process. Redis hands out each range from its start, and a later
 * range only after the ones before. So what lies before the last run that was heard of went out in answers that were
 * lost; what lies behind it was lost with Redis, or on the way to it, before the first run of a later range.
 */
export function explainInRedis(
  missing: Missing,
  rows: readonly CallOf[],
  runs: readonly CallOf[],
  held: readonly Held[],
  events: readonly ChaosEvent[],
  clearedAt: readonly number[],
): void {
  const isDirect = directCalls(rows);
  const refills = refillsOf(rows, runs, held);
  // A call that failed, or that ended in the database, may have lost one run before that.
  const lostRuns = runs
    .filter(
      ([process, { call, segment }]) => call === 'reserve' && (segment === undefined || isDirect(process, segment)),
    )
    .map(([, call]) => ({ at: call.at, count: call.count ?? REDIS_RUN }));
  let allowance = lostRuns.reduce((sum, { count }) => sum + count, 0);
  const spend = (found: Intervals): boolean => {
    const size = sizeOf(found);
    if (size > allowance) return false;
    allowance -= size;
    return true;
  };

  refills.forEach((refill, index) => {
    const reached = Math.max(refill.first - 1, ...refill.runs.map(({ last }) => last));
    const before = intersection(missing.left, [{ first: refill.first, last: reached }]);
    if (before.length > 0 && spend(before)) missing.explain('redisCut', before);
    const behind = intersection(missing.left, [{ first: reached + 1, last: refill.last }]);
    if (behind.length === 0) return;
    const later = refills.slice(index + 1).filter((each) => each.runs.length > 0);
    const until = Math.min(Infinity, ...later.flatMap((each) => each.runs.map(({ call }) => call.endedAt!)));
    const during = ({ from, to }: { readonly from: number; readonly to: number }): boolean =>
      from <= until && to + AFTERMATH_MS >= refill.at;
    const { process } = refill;
    const isHis = ({ slot }: ChaosEvent): boolean => slot === process.slot;
    const wentAway = during({ from: process.lastSeen, to: process.lastSeen });
    // A call that failed while it filled Redis up does not know whether the range has arrived.
    const hasFailed = runs.some(
      ([by, { segment, at, endedAt }]) =>
        by === process && segment === undefined && at <= refill.at && (endedAt ?? Infinity) >= refill.at,
    );
    const passedBy = runs.some(
      ([by, { segment, at, endedAt }]) =>
        segment !== undefined &&
        segment.first > refill.last &&
        isDirect(by, segment) &&
        during({ from: at, to: endedAt! }),
    );
    if (events.some((event) => event.what === 'redis' && during(event))) missing.explain('redisLost', behind);
    else if (clearedAt.some((at) => at >= refill.at)) missing.explain('redisCleared', behind);
    else if (later.length === 0 && index >= refills.length - 2) missing.explain('redisLeft', behind);
    else if (passedBy) missing.explain('redisPassed', behind);
    else if (hasFailed || wentAway || events.some((event) => isHis(event) && during(event)))
      missing.explain('redisCut', behind);
    else if (spend(behind)) missing.explain('redisCut', behind);
  });
}

/** Which segments a process reserved past Redis. */
function directCalls(rows: readonly CallOf[]): (process: ProcessRecord, segment: Interval) => boolean {
  const own = new Set(
    rows.flatMap(([{ name }, { segment }]) => (segment === undefined ? [] : [nameOf(name, segment)])),
  );
  return ({ name }, segment) => own.has(nameOf(name, segment));
}

function refillsOf(rows: readonly CallOf[], runs: readonly CallOf[], held: readonly Held[]): Refill[] {
  const direct = new Set(
    runs.flatMap(([{ name }, { segment }]) => (segment === undefined ? [] : [nameOf(name, segment)])),
  );
  return rows
    .flatMap(([process, { at, segment }]) =>
      segment === undefined || direct.has(nameOf(process.name, segment)) ? [] : [{ ...segment, process, at }],
    )
    .map((range) => ({ ...range, runs: held.filter(({ first, last }) => first >= range.first && last <= range.last) }))
    .sort((one, other) => one.first - other.first);
}

function nameOf(process: string, { first, last }: Interval): string {
  return `${process}: ${first} to ${last}`;
}
