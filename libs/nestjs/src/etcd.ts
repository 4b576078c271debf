/**
 * Worker ids kept in etcd. The same as `@raindrop/node/etcd`.
 *
 * @module @raindrop/nestjs/etcd
 */

export * from '@raindrop/node/etcd';
