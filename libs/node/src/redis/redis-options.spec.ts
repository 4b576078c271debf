import { ConfigurationError } from '@raindrop/core';
import { resolveOptions } from '@raindrop/core/internal';
import { redisBufferOptions, type RedisBufferOptions } from './redis-options.js';

const connection = 'redis://127.0.0.1:6379';

describe('The options of Redis', () => {
  it('have defaults', () => {
    expect(resolveOptions(redisBufferOptions, { connection })).toEqual({
      connection,
      keyPrefix: 'id.gen.',
      idle: 0.2,
      run: 100,
      lockMs: 60_000,
      redisTimeoutMs: 500,
      refillWaitMs: 250,
      onRedisDown: 'database',
    });
  });

  it.each([
    ['connection', undefined],
    ['connection', 'http://127.0.0.1'],
    ['connection', 5],
    ['keyPrefix', 'a{b}'],
    ['keyPrefix', ''],
    ['idle', 0.95],
    ['idle', '0.2'],
    ['run', 0],
    ['run', 100_001],
    ['lockMs', 999],
    ['redisTimeoutMs', 0],
    ['refillWaitMs', -1],
    ['onRedisDown', 'ignore'],
    ['idel', 0.2],
  ])('are refused when %s is %p', (option, given) => {
    const options = { connection, [option]: given } as RedisBufferOptions;
    const problems = [expect.objectContaining({ option })];
    expect(() => resolveOptions(redisBufferOptions, options)).toThrow(ConfigurationError);
    expect(() => resolveOptions(redisBufferOptions, options)).toThrow(expect.objectContaining({ problems }) as Error);
  });

  it('are refused without showing what may hold a password', () => {
    const secret = 'rediss:/:hunter2@host';
    expect(() => resolveOptions(redisBufferOptions, { connection: secret })).not.toThrow(/hunter2/);
    expect(() => resolveOptions(redisBufferOptions, { connection: secret })).toThrow('redis://');
  });
});
