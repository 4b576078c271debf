/** The worker table's name, by which its statements are known. */
export const WORKER_TABLE = 'soc_raindrop_worker';
