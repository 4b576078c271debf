/**
 * Worker ids kept in a NATS KV bucket. What stands here is `@raindrop/node/nats`.
 *
 * @module @raindrop/nestjs/nats
 */

export * from '@raindrop/node/nats';
