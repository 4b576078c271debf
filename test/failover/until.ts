import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT_MS = 15_000;
const LOOK_AGAIN_MS = 10;

/** Waits until something is so. @throws Error when it is not so in time */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`waited ${TIMEOUT_MS} ms in vain until ${what}`);
    await sleep(LOOK_AGAIN_MS);
  }
}
