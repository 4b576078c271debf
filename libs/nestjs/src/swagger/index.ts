/**
 * IDs in OpenAPI; needs `@nestjs/swagger`.
 *
 * @module @raindrop/nestjs/swagger
 */

export {
  ApiSnowflake,
  type ApiSnowflakeOptions,
  ApiSnowflakeParam,
  ApiSnowflakeQuery,
  type ApiSnowflakeParameterOptions,
} from './api-snowflake.decorator.js';
