/**
 * IDs as the keys of Kysely's inserts.
 *
 * @module @raindrop/orm/kysely
 */

export { InsertRefusedError, type InsertRefusal } from './ids.js';
