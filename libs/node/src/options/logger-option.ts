import type { OptionReader } from '@raindrop/core/internal';
import type { Logger } from '../ports/logger.js';

/** Any logger that can say what has to be said; the finer levels are left out where it has none. */
export function readLogger(reader: OptionReader): Logger | undefined {
  const given = reader.value('logger') as Partial<Logger> | null | undefined;
  if (given === undefined || ['log', 'warn', 'error'].every((each) => typeof given?.[each as 'log'] === 'function')) {
    return given as Logger | undefined;
  }
  reader.problem('logger', given, 'must have log(), warn() and error(): a Nest LoggerService, say');
  return undefined;
}
