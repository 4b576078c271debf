import { ConfigurationError } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../options/snowflake-options.js';
import { isReserving } from '../options/assigner-use.js';
import type { ReservingAssigner } from '../ports/reserving-assigner.js';

/**
 * The assigner, of those that the options name, that leases from a store.
 * @param without what the others lack
 * @throws ConfigurationError
 */
export function reservingOf({ assigner }: ResolvedSnowflakeOptions, without: string): 'database' | ReservingAssigner {
  const { use } = assigner.parts.at(-1)!;
  if (isReserving(use)) return use;
  const given = typeof use === 'string' ? use : use.name;
  const message = `${without}: only 'database', redisWorkers() and stores of your own do`;
  throw new ConfigurationError([{ option: 'workerIdAssigner', given, message }]);
}
