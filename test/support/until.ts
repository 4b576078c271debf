import { setTimeout as pause } from 'node:timers/promises';

const LOOK_AGAIN_MS = 5;
/** Ten times what a busy machine needs: only something that never comes gets there. */
const USUAL_DEADLINE_MS = 20_000;

/** What `until` waits for: not yet while it is undefined, null or false. */
export type Probed<T> = T | undefined | null | false;

/**
 * Waits until `probe` gives something, and returns that. A probe that throws is asked again: what it threw last stands
 * in the error.
 *
 * @throws Error that names `what` when it is not there after `withinMs` (20 s).
 */
export async function until<T>(
  what: string,
  probe: () => Probed<T> | Promise<Probed<T>>,
  { withinMs = USUAL_DEADLINE_MS }: { withinMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    let failure: unknown;
    try {
      const found = await probe();
      if (found !== undefined && found !== null && found !== false) return found;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${withinMs} ms in vain for: ${what}`, { cause: failure });
    }
    await pause(LOOK_AGAIN_MS);
  }
}
