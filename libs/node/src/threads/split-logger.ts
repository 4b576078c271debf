import { ConfigurationError } from '@raindrop/core';
import { OptionReader } from '@raindrop/core/internal';
import { consoleLogger, type Logger } from '../ports/logger.js';

type Warner = Pick<Logger, 'warn'>;

/**
 * The logger of options, by default standard error, and all others.
 * @throws ConfigurationError when they are no object, or the logger is none
 */
export function splitLogger<Others extends object>(options: Others & { logger?: Warner }): readonly [Warner, Others] {
  const given = new OptionReader(options).value('logger') as Partial<Warner> | null | undefined;
  if (given !== undefined && typeof given?.warn !== 'function') {
    const message = "must have a method warn, as Nest's loggers do";
    throw new ConfigurationError([{ option: 'logger', given: `(${typeof given})`, message }]);
  }
  const { logger = consoleLogger, ...others } = options;
  return [logger, others as unknown as Others];
}
