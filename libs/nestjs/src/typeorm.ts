/**
 * Entities with IDs: `@GeneratedSnowflake()`, business numbers and migrations for TypeORM. What stands here is
 * `@raindrop/typeorm`.
 *
 * @module @raindrop/nestjs/typeorm
 */

export * from '@raindrop/typeorm';
