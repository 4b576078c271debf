/**
 * IDs as the primary keys of MikroORM's entities, version 6 and 7.
 *
 * @module @raindrop/orm/mikro-orm
 */

import { requireSupported } from '@raindrop/node/internal';
export { InsertRefusedError, type InsertRefusal, type KeyOptions } from './ids.js';
export { withSnowflakes } from './mikro-orm/entity-manager.js';
export {
  snowflakeKey,
  SnowflakePrimaryKey,
  type SnowflakeKeyDecorator,
  type SnowflakeKeyProperty,
} from './mikro-orm/key.js';
export { checkPrecision, type MikroOrmLike } from './mikro-orm/precision.js';
export { type PrecisionOptions, type PrecisionReport, RoundedIdsError } from './precision.js';

requireSupported('@mikro-orm/core', () => __filename);
requireSupported('@mikro-orm/decorators', () => __filename);
