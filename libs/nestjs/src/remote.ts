/**
 * IDs from a service elsewhere, over HTTP.
 *
 * @module @raindrop/nestjs/remote
 */

export * from '@raindrop/node/remote';
