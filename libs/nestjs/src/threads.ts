/**
 * IDs for worker threads. It loads no Nest. The same as `@raindrop/node/threads`.
 *
 * @module @raindrop/nestjs/threads
 */

export * from '@raindrop/node/threads';
