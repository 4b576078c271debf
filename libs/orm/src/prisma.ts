/**
 * IDs as the keys of Prisma's models: an extension of the client.
 *
 *     const prisma = new PrismaClient({ adapter }).$extends(snowflakes(ids));
 *
 * @module @raindrop/orm/prisma
 */

import { requireSupported } from '@raindrop/node/internal';
export { InsertRefusedError, type InsertRefusal, type KeyIds } from './ids.js';
export { type PrecisionOptions, type PrecisionReport, RoundedIdsError } from './precision.js';
export { snowflakes, type SnowflakesExtension } from './prisma/extension.js';
export { type FieldOptions, type SnowflakeFields } from './prisma/models.js';
export { checkPrecision, type PrismaLike } from './prisma/precision.js';

requireSupported('@prisma/client', () => __filename);
