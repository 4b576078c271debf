import { setImmediate } from 'node:timers/promises';

/** So many take less than 1 ms in every format. */
const SLICE = 1_000;

/** The texts of a batch; after each slice others get a turn of the event loop. */
export async function encodeInTurns(ids: readonly bigint[], encode: (id: bigint) => string): Promise<string[]> {
  const texts: string[] = [];
  for (let from = 0; from < ids.length; from += SLICE) {
    if (from > 0) await setImmediate();
    for (const id of ids.slice(from, from + SLICE)) texts.push(encode(id));
  }
  return texts;
}
