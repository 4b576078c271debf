/** How many of these IDs somebody had before. */
export function repeated(ids: readonly bigint[]): number {
  return ids.length - new Set(ids).size;
}

/** The same of millions: those that came again, in order, as often as they did. */
export function repeatedAmong(all: readonly BigInt64Array[]): BigInt64Array {
  const sorted = new BigInt64Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const ids of all) {
    sorted.set(ids, at);
    at += ids.length;
  }
  sorted.sort();
  return sorted.filter((id, index) => index > 0 && id === sorted[index - 1]);
}
