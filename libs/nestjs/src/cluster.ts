/**
 * IDs for the processes of a cluster, from one worker id that the primary holds. What stands here is `@raindrop/node/cluster`.
 *
 * @module @raindrop/nestjs/cluster
 */

export * from '@raindrop/node/cluster';
