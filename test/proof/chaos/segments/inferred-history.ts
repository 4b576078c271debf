import type { CallOf } from './missing-numbers.js';
import { difference, sizeOf, union, type Interval, type Intervals } from './intervals.js';
import type { RowHistory } from './row-history.js';
import { ROW_STEP } from './segment-messages.js';

/**
 * A row's history where the database keeps none: what processes were told, and between that what calls without an answer
 * must have reserved. Each gap must be the sum of such calls, each used once; a gap that is not stays unexplained.
 */
export function inferHistory(maxId: number, rows: readonly CallOf[]): Required<RowHistory> {
  const told = rows.flatMap(([, { segment }]) => (segment === undefined ? [] : [segment]));
  const returned = rows.flatMap(([, { outcome, unused }]) => (outcome === 'returned' ? [unused!] : []));
  const open = new Map<number, number>();
  for (const [, { call, outcome, count }] of rows) {
    if (call !== 'reserve' || outcome === 'reserved') continue;
    open.set(count ?? ROW_STEP, (open.get(count ?? ROW_STEP) ?? 0) + 1);
  }
  const gaps = difference([{ first: 1, last: maxId }], union(rows.flatMap((each) => keptOf(each, rows))));
  const unheard = [...gaps].sort((one, other) => sizeOf([one]) - sizeOf([other])).flatMap((gap) => piecesOf(gap, open));
  const taken = [...told, ...unheard].map(({ first, last }) => ({ before: first - 1, after: last }));
  return { maxId, changes: [...taken, ...returned.map(({ first, last }) => ({ before: last, after: first - 1 }))] };
}

/** What was told to a process, without what it gave back afterwards: that can have gone to a call without an answer. */
function keptOf([process, { segment, endedAt }]: CallOf, rows: readonly CallOf[]): Intervals {
  if (segment === undefined) return [];
  const back = rows.filter(([giver, { outcome, at }]) => giver === process && outcome === 'returned' && at >= endedAt!);
  return difference([segment], union(back.map(([, { unused }]) => unused!)));
}

/** The gap as the work of open calls, which are used up then; nothing when they do not add up. */
function piecesOf(gap: Interval, open: Map<number, number>): Interval[] {
  const counts = addends(
    sizeOf([gap]),
    [...open.entries()].filter(([, left]) => left > 0).sort(([a], [b]) => b - a),
  );
  let { first } = gap;
  return (counts ?? []).map((count) => {
    open.set(count, open.get(count)! - 1);
    const piece = { first, last: first + count - 1 };
    first += count;
    return piece;
  });
}

/** Of these numbers, each so often at most, some that add up to the sum; undefined when none do. */
function addends(sum: number, [head, ...tail]: readonly (readonly [number, number])[]): number[] | undefined {
  if (sum === 0) return [];
  if (head === undefined) return undefined;
  const [count, most] = head;
  for (let times = Math.min(most, Math.floor(sum / count)); times >= 0; times--) {
    const rest = addends(sum - times * count, tail);
    if (rest !== undefined) return [...Array.from({ length: times }, () => count), ...rest];
  }
  return undefined;
}
