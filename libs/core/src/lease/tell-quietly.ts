/**
 * Calls a listener of somebody else's. What it throws, or rejects with, is its own affair: it must neither stop a lease
 * nor end a process.
 */
export function tellQuietly<Told extends unknown[]>(listener: (...told: Told) => unknown, ...told: Told): void {
  try {
    Promise.resolve(listener(...told)).catch(() => undefined);
  } catch {
    // Nobody is here who could be told.
  }
}
