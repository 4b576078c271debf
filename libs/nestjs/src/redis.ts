/**
 * Worker ids and number ranges kept in Redis; needs ioredis. The same as `@raindrop/node/redis`.
 *
 * @module @raindrop/nestjs/redis
 */

export * from '@raindrop/node/redis';
