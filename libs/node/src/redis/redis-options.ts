import {
  integer,
  oneOf,
  option,
  type OptionReader,
  type OptionsOf,
  type ReadOptions,
  text,
} from '@raindrop/core/internal';
import type { RedisTarget } from './redis-connection.js';

/** The options of Redis as a shared buffer. Times in ms. */
export const redisBufferOptions = {
  /**
   * The buffer does not close a client of yours. For a URL or options it opens a connection of its own.
   * @range an ioredis client, a URL, or ioredis' options
   */
  connection: option<RedisTarget, RedisTarget>(readConnection, { isRequired: true }),
  /**
   * The prefix of every key, as in `id.gen.idList_{app}_{shard}`.
   * @range 1-128 letters, digits or any of `. : _ -` @defaultValue `id.gen.`
   */
  keyPrefix: text({
    pattern: /^[\w.:-]{1,128}$/,
    legal: '1 to 128 letters, digits or any of . : _ -',
    default: 'id.gen.',
  }),
  /**
   * When this share of a range is left, one process acquires a lock and reserves the next range in the
   * database.
   * @range 0-0.9 @defaultValue 0.2
   */
  idle: option<number, number>(readIdle, { min: 0, max: 0.9, default: 0.2 }),
  /** How many numbers a process takes at once, unless its step is larger. @range 1-100,000 @defaultValue 100 */
  run: integer({ min: 1, max: 100_000, default: 100 }),
  /**
   * How long a process may take for a refill. After that another process may refill.
   * @range 1,000-600,000 @defaultValue 60,000
   */
  lockMs: integer({ min: 1_000, max: 600_000, default: 60_000 }),
  /** How long one command may take. @range 10-60,000 @defaultValue 500 */
  redisTimeoutMs: integer({ min: 10, max: 60_000, default: 500 }),
  /**
   * How long to wait for another process's refill before reserving in the database.
   * @range 0-60,000 @defaultValue 250
   */
  refillWaitMs: integer({ min: 0, max: 60_000, default: 250 }),
  /**
   * What to do without Redis: reserve in the database, or reject with `RedisUnavailableError`.
   * @range `database`, `throw` @defaultValue `database`
   */
  onRedisDown: oneOf(['database', 'throw'], { default: 'database' }),
};

/**
 * Redis, from version 5, as the buffer that several processes share; its user needs INFO besides scripts, strings and
 * hashes. Times in ms.
 *
 * A running Redis must not be rewound by hand: a virtual machine's memory snapshot, DEBUG RELOAD and RESTORE of an old
 * copy bring numbers back unnoticed.
 */
export interface RedisBufferOptions extends OptionsOf<typeof redisBufferOptions> {}

export interface ResolvedRedisBufferOptions extends ReadOptions<typeof redisBufferOptions> {}

/** Reads `connection`. */
export function readConnection(reader: OptionReader, name: string): RedisTarget {
  const given = reader.value(name);
  const isUrl = typeof given === 'string' && /^rediss?:\/\//.test(given);
  if (isUrl || (typeof given === 'object' && given !== null)) return given;
  // A text may hold a password: only its kind is shown.
  reader.problem(
    name,
    given === undefined ? undefined : `(${typeof given})`,
    'must be an ioredis client, a URL that begins with redis:// or rediss://, or the options of ioredis',
  );
  return {};
}

function readIdle(reader: OptionReader, name: string): number {
  const given = reader.value(name) ?? 0.2;
  if (typeof given === 'number' && given >= 0 && given <= 0.9) return given;
  reader.problem(name, given, 'must be a number from 0 to 0.9');
  return 0.2;
}
