/**
 * IDs for the public that tell nothing; needs `@noble/ciphers`.
 *
 * @module @raindrop/node/public-ids
 */

export { publicIds, type PublicIdCodec, type PublicIdBits, type PublicIdOptions } from './public-ids.js';
