/**
 * Worker ids kept in etcd. What stands here is `@raindrop/node/etcd`.
 *
 * @module @raindrop/nestjs/etcd
 */

export * from '@raindrop/node/etcd';
