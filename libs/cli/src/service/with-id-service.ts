import 'reflect-metadata';
import type { LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IdService, RaindropModule, type SnowflakeModuleOptions } from '@raindrop/nestjs';
import type { CliOutput } from '../io/cli-output.js';

/**
 * Does the work with a service that holds a worker id, and gives it back whatever happens.
 * @throws what keeps the service from starting, and what the work throws
 */
export async function withIdService<T>(
  options: SnowflakeModuleOptions,
  output: CliOutput,
  work: (ids: IdService) => Promise<T>,
): Promise<T> {
  const imported = RaindropModule.forRoot({ ...options, logger: loggerOf(output), checkShutdownHooks: false });
  const app = await NestFactory.createApplicationContext(imported, { logger: false, abortOnError: false });
  try {
    output.interruption.check();
    return await work(app.get(IdService));
  } finally {
    await app.close();
  }
}

/** Warnings for people; the rest is of no interest to a command that ends in a moment. */
function loggerOf(output: CliOutput): LoggerService {
  const warn = (message: unknown): void => output.warn(String(message));
  const ignore = (): void => undefined;
  return { log: ignore, debug: ignore, verbose: ignore, warn, error: warn, fatal: warn };
}
