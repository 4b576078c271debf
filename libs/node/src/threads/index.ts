/**
 * IDs for worker threads, from a ring in memory that all threads of a process share.
 *
 * @module @raindrop/node/threads
 */

export { sharedIdRing, type ThreadRingOptions, openSharedIds, type ThreadIdsOptions } from './thread-ring.js';

export { SharedIdRing, SharedIds } from '@raindrop/core/internal';
