import { ConfigurationError } from '@raindrop/core';
import { grantReachMs, resolveLeaseOptions } from '@raindrop/core/internal';
import { redisWorkers, redisWorkersOf, resolveRedisWorkersOptions, type RedisWorkersOptions } from './redis-workers.js';

const connection = 'redis://127.0.0.1:6379';

describe('The options of worker ids in Redis', () => {
  it('have defaults', () => {
    expect(resolveRedisWorkersOptions({ connection })).toEqual({ connection, key: 'raindrop.worker' });
  });

  it.each([
    ['connection', undefined],
    ['connection', 'http://127.0.0.1'],
    ['connection', 5],
    ['key', ''],
    ['key', 'a b'],
    ['key', 7],
    ['kee', 'raindrop.worker'],
  ])('are refused when %s is %p', (option, given) => {
    const options = { connection, [option]: given } as RedisWorkersOptions;
    const problems = [expect.objectContaining({ option })];
    expect(() => redisWorkers(options)).toThrow(ConfigurationError);
    expect(() => redisWorkers(options)).toThrow(expect.objectContaining({ problems }) as Error);
  });

  it('show no password', () => {
    const refused = (): unknown => redisWorkers({ connection: 'redsi://:secret@host' });
    expect(refused).toThrow(/connection/);
    expect(refused).not.toThrow(/secret/);
  });
});

describe('How far what was granted can reach', () => {
  it.each([
    [{}, 185_000],
    [{ leaseMs: 20_000 }, 25_000 + 90_000],
    [{ graceMs: 0 }, 65_000 + 90_000],
    [{ maxClockSkewMs: 100, graceMs: 0 }, 65_000 + 60_000],
    [{ horizonMs: 600_000 }, 720_000],
  ])('follows from the lease: %p', (options, reachMs) => {
    const lease = resolveLeaseOptions(options);
    expect(grantReachMs(lease)).toBe(reachMs);
    expect(redisWorkersOf({ connection, key: 'a' }, 0).defaultWaitMs!(lease)).toBe(reachMs + 10_000);
    expect(redisWorkers({ connection }).defaultWaitMs!(lease)).toBe(Math.max(reachMs, 185_000) + 10_000);
  });
});
