/** Numbers from `first` to `last`, both included. */
export interface Interval {
  readonly first: number;
  readonly last: number;
}

/** Intervals in order, apart from each other. */
export type Intervals = readonly Interval[];

export function union(intervals: Iterable<Interval>): Intervals {
  const merged: { first: number; last: number }[] = [];
  for (const { first, last } of [...intervals].sort((a, b) => a.first - b.first)) {
    const end = merged.at(-1);
    if (end !== undefined && first <= end.last + 1) end.last = Math.max(end.last, last);
    else merged.push({ first, last });
  }
  return merged;
}

export function intersection(one: Intervals, other: Intervals): Intervals {
  const common: Interval[] = [];
  for (let i = 0, k = 0; i < one.length && k < other.length;) {
    const first = Math.max(one[i]!.first, other[k]!.first);
    const last = Math.min(one[i]!.last, other[k]!.last);
    if (first <= last) common.push({ first, last });
    if (one[i]!.last < other[k]!.last) i++;
    else k++;
  }
  return common;
}

export function difference(from: Intervals, what: Intervals): Intervals {
  const left: Interval[] = [];
  let k = 0;
  for (const { first, last } of from) {
    let begin = first;
    while (k < what.length && what[k]!.last < begin) k++;
    for (let at = k; at < what.length && what[at]!.first <= last; at++) {
      if (what[at]!.first > begin) left.push({ first: begin, last: what[at]!.first - 1 });
      begin = Math.max(begin, what[at]!.last + 1);
    }
    if (begin <= last) left.push({ first: begin, last });
  }
  return left;
}

/** How many numbers there are. */
export function sizeOf(intervals: Intervals): number {
  return intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

/** Of numbers in order. */
export function runsOf(numbers: BigInt64Array): Intervals {
  const runs: { first: number; last: number }[] = [];
  for (const each of numbers) {
    const number = Number(each);
    const end = runs.at(-1);
    if (end !== undefined && number === end.last + 1) end.last = number;
    else if (end === undefined || number > end.last) runs.push({ first: number, last: number });
  }
  return runs;
}
