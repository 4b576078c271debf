/**
 * IDs as the keys of Sequelize's models, version 6.
 *
 * @module @raindrop/orm/sequelize
 */

import { requireSupported } from '@raindrop/node/internal';
export { InsertRefusedError, type InsertRefusal, type KeyIds, type KeyOptions } from './ids.js';
export { type PrecisionOptions, type PrecisionReport, RoundedIdsError } from './precision.js';
export { snowflakeKey, snowflakeReference, type SnowflakeAttribute } from './sequelize/key.js';
export { checkPrecision } from './sequelize/precision.js';
export { withSnowflakes } from './sequelize/models.js';

requireSupported('sequelize', () => __filename);
