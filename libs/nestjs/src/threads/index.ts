/**
 * IDs for worker threads, and for the processes of a cluster.
 *
 * @module @raindrop/nestjs/threads
 */

export { sharedIdRing, type ThreadRingOptions } from './shared-id-ring.js';
export { openSharedIds, type ThreadIdsOptions } from './open-shared-ids.js';
export { RaindropThreadModule, type RaindropThreadOptions } from './raindrop-thread.module.js';
