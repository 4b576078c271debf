import type { LoggerService } from '@nestjs/common';
import { guarded } from '../system/guarded.js';

/** A logger that neither throws nor rejects, whatever the one behind it does. */
export function guardedLogger(logger: LoggerService): LoggerService {
  const level = (name: 'log' | 'warn' | 'error' | 'debug') => {
    return (...words: unknown[]): void =>
      guarded(`The logger, which was told '${String(words[0])}',`, () => logger[name]?.(...(words as [unknown])));
  };
  return { log: level('log'), warn: level('warn'), error: level('error'), debug: level('debug') };
}
