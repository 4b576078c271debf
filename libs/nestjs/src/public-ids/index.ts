/**
 * IDs for the public that tell nothing; needs `@noble/ciphers`.
 *
 * @module @raindrop/nestjs/public-ids
 */

export * from '@raindrop/node/public-ids';
export { PublicId } from './public-id.decorator.js';
