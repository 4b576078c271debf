/**
 * IDs as the keys of the models of Prisma 8: an extension for `prisma.config.ts` and for the client.
 *
 *     const raindrop = snowflakes(ids);
 *     const db = postgres<Contract>({ contractJson, url, extensions: [raindrop], middleware: [raindrop] });
 *
 * @module @raindrop/orm/prisma-8
 */

import { requireSupported } from '@raindrop/node/internal';
export { InsertRefusedError, type InsertRefusal, type KeyIds } from './ids.js';
export { type Contribution, snowflakes, type SnowflakesExtension } from './prisma-8/extension.js';
export { type FieldOptions, type SnowflakesOptions } from './prisma-8/fields.js';
export { type Parameters, type Statement } from './prisma-8/statements.js';

requireSupported('@prisma/orm-postgres', () => __filename);
requireSupported('@prisma/orm-sqlite', () => __filename);
