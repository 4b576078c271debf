/**
 * IDs for the processes of a cluster, from one worker id that the primary holds. The same as `@raindrop/node/cluster`.
 *
 * @module @raindrop/nestjs/cluster
 */

export * from '@raindrop/node/cluster';
