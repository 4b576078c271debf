/**
 * IDs of another ID service, over HTTP. The same as `@raindrop/node/remote`.
 *
 * @module @raindrop/nestjs/remote
 */

export * from '@raindrop/node/remote';
