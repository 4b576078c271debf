/**
 * Entities with IDs: `@GeneratedSnowflake()`, business numbers and migrations for TypeORM. The same as
 * `@raindrop/typeorm`.
 *
 * @module @raindrop/nestjs/typeorm
 */

export * from '@raindrop/typeorm';
