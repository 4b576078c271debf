/**
 * The module and `IdService` for Nest, with its pipe, interceptor and exception filter; the errors of the service and
 * the codecs of IDs.
 *
 * All exports of `@raindrop/node`, and so of `@raindrop/core`, are here as well, so that one installed package is enough.
 *
 * @module @raindrop/nestjs
 */

export { RaindropModule, type RaindropOptionsFactory } from './raindrop.module.js';
export type { ApplicationOptions, RaindropModuleExtras, RaindropModuleOptions } from './raindrop.options.js';
export { OptionsFactoryError } from './module/options-factory.js';
export { getIdServiceToken, InjectIdService } from './module/raindrop.tokens.js';
export { IdService } from './id.service.js';
export type { AppDataSource, SnowflakeTarget } from './orm/app-data-source.js';
export { ParseIdPipe, type ParsedIdParameter, type ParseIdPipeOptions } from './http/parse-id.pipe.js';
export { BigIntInterceptor, bigIntsToStrings } from './http/big-int.interceptor.js';
export { RaindropExceptionFilter, raindropProblem, type RaindropProblem } from './http/raindrop-exception.filter.js';

export * from '@raindrop/node';
