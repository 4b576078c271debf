/**
 * Worker ids and number ranges kept in Redis; needs ioredis. What stands here is `@raindrop/node/redis`.
 *
 * @module @raindrop/nestjs/redis
 */

export * from '@raindrop/node/redis';
