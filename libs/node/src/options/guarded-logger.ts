import type { Logger } from '../ports/logger.js';
import { guarded } from '../system/guarded.js';

/** A logger that neither throws nor rejects, whatever the one behind it does. */
export function guardedLogger(logger: Logger): Logger {
  const level = (name: 'log' | 'warn' | 'error') => {
    return (...words: [message: string, ...rest: string[]]): void =>
      guarded(`The logger, which was told '${words[0]}',`, () => logger[name](...words));
  };
  return { log: level('log'), warn: level('warn'), error: level('error') };
}
