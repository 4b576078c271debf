// The callers of numbers from segments: one that takes all there are, and one that keeps its pace.
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Takes numbers as fast as they come. A turn of the event loop after each batch lets the answers of the database in.
 *
 * @param {(taken: number) => boolean} goesOn
 * @param size of a batch; with more than a segment has, larger ones are fetched
 * @returns numbers a second
 */
export async function takeWhile(ids, goesOn, size = 250) {
  const batch = new BigInt64Array(size);
  const begun = performance.now();
  let taken = 0;
  while (goesOn(taken)) {
    await ids.fillAsync(batch);
    taken += size;
    await new Promise(setImmediate);
  }
  return (taken / (performance.now() - begun)) * 1_000;
}

/** As {@link takeWhile}, for some seconds. */
export function takeFor(ids, seconds, size) {
  const end = performance.now() + seconds * 1_000;
  return takeWhile(ids, () => performance.now() < end, size);
}

/**
 * Takes numbers of a code one by one, at an even pace, and makes up for what it was late.
 *
 * @returns how many calls there were, how many of them found nothing, and how long the longest took to get its number
 */
export async function takeSteadily(ids, code, { perSecond, seconds }) {
  const begun = performance.now();
  const pace = { calls: 0, empty: 0, longestMs: 0 };
  for (let elapsedMs = 0; elapsedMs < seconds * 1_000; elapsedMs = performance.now() - begun) {
    for (; pace.calls < (elapsedMs * perSecond) / 1_000; pace.calls++) {
      const asked = performance.now();
      if (!hasNext(ids, code)) {
        pace.empty++;
        await ids.nextIdAsync(code);
      }
      pace.longestMs = Math.max(pace.longestMs, performance.now() - asked);
    }
    await sleep(1);
  }
  return pace;
}

function hasNext(ids, code) {
  try {
    ids.nextId(code);
    return true;
  } catch (error) {
    if (error.errorCode !== 'SEGMENT_NOT_READY') throw error;
    return false;
  }
}
