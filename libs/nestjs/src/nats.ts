/**
 * Worker ids kept in a NATS KV bucket. The same as `@raindrop/node/nats`.
 *
 * @module @raindrop/nestjs/nats
 */

export * from '@raindrop/node/nats';
