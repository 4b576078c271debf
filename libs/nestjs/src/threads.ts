/**
 * IDs for worker threads. It loads no Nest. What stands here is `@raindrop/node/threads`.
 *
 * @module @raindrop/nestjs/threads
 */

export * from '@raindrop/node/threads';
