import { ConfigurationError } from '@raindrop/core';

/**
 * Refuses what is no object of options. The value stays out of the message: a text may be a URL with its password.
 * @throws ConfigurationError naming `option`
 */
export function refuseNonObject(option: string, given: unknown, message: string): void {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return;
  const isNothing = given === undefined || given === null;
  const kind = isNothing ? String(given) : Array.isArray(given) ? 'an array' : `a ${typeof given}`;
  throw new ConfigurationError([{ option, given: kind, message }]);
}
