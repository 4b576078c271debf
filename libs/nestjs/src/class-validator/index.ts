export { IsSnowflake, type IsSnowflakeOptions } from './is-snowflake.decorator.js';
