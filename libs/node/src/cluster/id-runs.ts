import { MAX_ID } from '@raindrop/core/internal';

/**
 * IDs that follow each other by the same step: `[first, count, step]`, the IDs as decimal text since JSON knows no bigint.
 * Most of a tick is one run.
 */
export type IdRun = readonly [first: string, count: number, step: string];

/** IDs as runs, in their order. */
export function encodeIds(ids: readonly bigint[]): IdRun[] {
  const runs: IdRun[] = [];
  for (let from = 0; from < ids.length;) {
    const first = ids[from]!;
    const step = from + 1 < ids.length ? ids[from + 1]! - first : 0n;
    let end = from + 1;
    // After a clock that went back IDs may go down: there a run ends.
    if (step > 0n) while (end < ids.length && ids[end]! - ids[end - 1]! === step) end++;
    runs.push([first.toString(), end - from, end - from === 1 ? '1' : step.toString()]);
    from = end;
  }
  return runs;
}

/**
 * The IDs of runs, in their order; undefined when the value is not made of runs, has more than `most` IDs or none, or one
 * that is none.
 */
export function decodeIds(runs: unknown, most: number): bigint[] | undefined {
  if (!Array.isArray(runs) || runs.length > most) return undefined;
  const ids: bigint[] = [];
  for (const run of runs) {
    if (!isRun(run) || ids.length + run[1] > most) return undefined;
    const [first, count, step] = [BigInt(run[0]), run[1], BigInt(run[2])];
    if (first + BigInt(count - 1) * step > MAX_ID) return undefined;
    for (let id = first, left = count; left > 0; left--, id += step) ids.push(id);
  }
  return ids.length > 0 ? ids : undefined;
}

function isRun(run: unknown): run is IdRun {
  if (!Array.isArray(run) || run.length !== 3) return false;
  const [first, count, step] = run as unknown[];
  return isDecimal(first) && isDecimal(step) && step !== '0' && Number.isSafeInteger(count) && (count as number) >= 1;
}

/** As a bigint writes itself, in up to 19 digits. */
function isDecimal(text: unknown): text is string {
  return typeof text === 'string' && /^(0|[1-9]\d{0,18})$/.test(text);
}
