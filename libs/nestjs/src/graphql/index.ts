/**
 * IDs in GraphQL; needs `graphql`.
 *
 * @module @raindrop/nestjs/graphql
 */

export { SnowflakeScalar, snowflakeScalar, type SnowflakeScalarOptions } from './snowflake.scalar.js';
