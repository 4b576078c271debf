import {
  Module,
  type DynamicModule,
  type INestApplicationContext,
  type LoggerService,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/** A logger that says nothing. */
export const SILENT = { log: (): void => {}, warn: (): void => {}, error: (): void => {} };

/** Starts an application of these modules; it is the caller's to close. */
export function startApp(
  imports: readonly (DynamicModule | Type)[],
  providers: readonly Type[] = [],
  logger: LoggerService | false = false,
): Promise<INestApplicationContext> {
  class AppModule {}
  Module({ imports: [...imports], providers: [...providers] })(AppModule);
  return NestFactory.createApplicationContext(AppModule, { logger, abortOnError: false });
}
