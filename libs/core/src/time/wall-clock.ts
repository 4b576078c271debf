/**
 * The wall clock of when this was loaded, Unix ms. Tests fake `Date` while a service runs: a service that followed would
 * reserve for a future that is gone again, and wait for it, once the true `Date` is back.
 */
export const wallClock = { now: Date.now };
