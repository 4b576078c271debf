/**
 * IDs as the keys of Sequelize's models, version 6.
 *
 * @module @raindrop/orm/sequelize
 */

export { InsertRefusedError, type InsertRefusal, type KeyIds, type KeyOptions } from './ids.js';
export { snowflakeKey, snowflakeReference, type SnowflakeAttribute } from './sequelize/key.js';
export { withSnowflakes } from './sequelize/models.js';
