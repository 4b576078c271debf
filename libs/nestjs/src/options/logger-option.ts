import type { LoggerService } from '@nestjs/common';
import type { OptionReader } from '@raindrop/core';

/** Any logger that can say what has to be said; the finer levels are left out where it has none. */
export function readLogger(reader: OptionReader): LoggerService | undefined {
  const given = reader.value('logger') as Partial<LoggerService> | null | undefined;
  if (given === undefined || ['log', 'warn', 'error'].every((each) => typeof given?.[each as 'log'] === 'function')) {
    return given as LoggerService | undefined;
  }
  reader.problem('logger', given, 'must have log(), warn() and error(): a Nest LoggerService');
  return undefined;
}
