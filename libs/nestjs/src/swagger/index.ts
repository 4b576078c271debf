/**
 * IDs in OpenAPI; needs `@nestjs/swagger`.
 *
 * @module @raindrop/nestjs/swagger
 */

export { ApiSnowflake, type ApiSnowflakeOptions } from './api-snowflake.decorator.js';
export {
  ApiSnowflakeParam,
  ApiSnowflakeQuery,
  type ApiSnowflakeParameterOptions,
} from './api-snowflake-parameter.decorator.js';
