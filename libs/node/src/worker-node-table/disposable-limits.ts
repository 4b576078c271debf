/** The table of starts when no other name is given: uid-generator's. */
export const DEFAULT_DISPOSABLE_TABLE = 'raindrop_worker_node';

/** With fewer bits the worker ids would be used up by some restarts a day. */
export const DISPOSABLE_MIN_WORKER_BITS = 17;
