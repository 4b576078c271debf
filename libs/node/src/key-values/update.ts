import type { KeyValues, Seen } from './key-values.js';

const TRIES = 10;

/** Changes one key, whatever it holds, by what `next` makes of it. */
export async function update(
  values: KeyValues,
  what: string,
  key: string,
  next: (seen: Seen) => string,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const seen = await values.read(what, [key]);
    if (await values.change(what, { seen, key, text: next(seen) })) return;
  }
  throw values.unavailable(what, `others changed ${key} at each of ${TRIES} tries`);
}
