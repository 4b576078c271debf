/** With fewer bits the worker ids would be used up by some restarts a day. */
export const DISPOSABLE_MIN_WORKER_BITS = 17;
