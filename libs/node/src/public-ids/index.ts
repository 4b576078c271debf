/**
 * IDs for the public that tell nothing; needs `@noble/ciphers`.
 *
 * @module @raindrop/node/public-ids
 */

export { publicIds, type PublicIdCodec, type PublicIdBits } from './public-ids.js';
export type { PublicIdOptions } from './public-id-options.js';
