/**
 * IDs in DTOs; needs class-validator.
 *
 * @module @raindrop/nestjs/class-validator
 */

export { IsSnowflake, type IsSnowflakeOptions } from './is-snowflake.decorator.js';
