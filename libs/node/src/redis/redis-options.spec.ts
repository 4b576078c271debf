import fc from 'fast-check';
import { ConfigurationError } from '@raindrop/core';
import { resolveOptions } from '@raindrop/core/internal';
import { redisBufferOptions, type RedisBufferOptions } from './redis-options.js';
import { RedisKeys } from './redis-keys.js';

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

/** What a Redis cluster hashes of a key. */
const slotOf = (key: string): string => /\{([^}]+)\}/.exec(key)?.[1] ?? key;

describe('The keys of a range and its lock', () => {
  it('are the names of the original, with scope and term', () => {
    expect(RedisKeys.ofShard('id.gen.', 'db', 5, 12).under('t')).toEqual([
      'id.gen.idList_{5_12@db}.t',
      'id.gen.lock_{5_12@db}.t',
    ]);
    expect(RedisKeys.ofCode('x:', '', 'ORDER').under('t')).toEqual(['x:codeList_{ORDER@}.t', 'x:codeLock_{ORDER@}.t']);
  });

  it('share a slot of a cluster, whatever the code', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (scope, code) => {
        const [range, lock] = RedisKeys.ofCode('id.gen.', scope, code).under('t');
        expect(slotOf(range)).toBe(slotOf(lock));
        expect(slotOf(range)).not.toBe(range);
      }),
    );
  });

  it('are different for different codes and scopes', () => {
    const texts = fc.oneof(fc.string(), fc.constantFrom('a@b', '@', '%0040', '\ud800', '\udc00', 'a', 'A', '{a}', ''));
    fc.assert(
      fc.property(texts, texts, texts, texts, (code, scope, otherCode, otherScope) => {
        const one = RedisKeys.ofCode('', scope, code).under('')[0];
        const other = RedisKeys.ofCode('', otherScope, otherCode).under('')[0];
        expect(one === other).toBe(code === otherCode && scope === otherScope);
      }),
    );
  });
});
