import { LONGEST_ENTRY, writeIdEntries } from './id-entries.js';

const START = '{"ids":[';

/**
 * `{"ids":["…","…"]}` with the IDs (of which there is one at least) in decimal.
 *
 * @param json what to write into, {@link idsJsonSize} long at least
 * @returns the part that was written
 */
export function idsJson(ids: BigInt64Array, json: Buffer): Buffer {
  const end = writeIdEntries(ids, json, json.write(START, 'latin1'), ',');
  // Over the last entry's comma.
  return json.subarray(0, end - 1 + json.write(']}', end - 1, 'latin1'));
}

/** The most bytes that the JSON of so many IDs takes. */
export function idsJsonSize(count: number): number {
  return START.length + count * LONGEST_ENTRY + 1;
}
