/**
 * IDs for the public that tell nothing; needs `@noble/ciphers`.
 *
 * @module @raindrop/node/public-ids
 */

import { requireSupported } from '../system/peer-versions.js';
export { publicIds, type PublicIdCodec, type PublicIdBits, type PublicIdOptions } from './public-ids.js';

requireSupported('@noble/ciphers', () => __filename);
