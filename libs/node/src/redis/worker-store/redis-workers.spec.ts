import { ConfigurationError } from '@raindrop/core';
import { grantReachMs, resolveLeaseOptions, resolveOptions } from '@raindrop/core/internal';
import { redisWorkers, redisWorkersOf, redisWorkersOptions, type RedisWorkersOptions } from './redis-workers.js';
import { durabilityOf } from './redis-worker-store.js';

const connection = 'redis://127.0.0.1:6379';

describe('The options of worker ids in Redis', () => {
  it('have defaults', () => {
    expect(resolveOptions(redisWorkersOptions, { connection })).toEqual({ connection, key: 'raindrop.worker' });
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

const SAFE = [
  'aof_enabled:1\r\nloading:0',
  'role:master\r\nconnected_slaves:0\r\nmaster_replid:aa',
  'maxmemory:0\r\nmaxmemory_policy:noeviction',
];

/** The names that are warned of. */
function warnedOf(...said: readonly string[]): string[] {
  return durabilityOf([...SAFE.map((each, index) => said[index] ?? each)], 185_000).map((each) => each.split(' ')[0]!);
}

describe('What can cost Redis its memory', () => {
  it.each([
    ['nothing', [], []],
    ['no file of appended commands', ['aof_enabled:0\r\nloading:0'], ['aof_enabled']],
    [
      'a policy that evicts any key',
      [SAFE[0]!, SAFE[1]!, 'maxmemory:9\r\nmaxmemory_policy:allkeys-lru'],
      ['maxmemory_policy'],
    ],
    ['the same without a limit', [SAFE[0]!, SAFE[1]!, 'maxmemory:0\r\nmaxmemory_policy:allkeys-lru'], []],
    ['a policy that evicts keys that expire', [SAFE[0]!, SAFE[1]!, 'maxmemory:9\r\nmaxmemory_policy:volatile-lru'], []],
    ['replicas that need not answer', [SAFE[0]!, 'connected_slaves:2\r\n'], ['min-replicas-to-write']],
    ['replicas that must', [SAFE[0]!, 'connected_slaves:2\r\nmin_slaves_good_slaves:2\r\n'], []],
  ])('is said: %s', (_, said, names) => {
    expect(warnedOf(...said)).toEqual(names);
  });

  it('says for how long', () => {
    expect(durabilityOf(['aof_enabled:0', ...SAFE.slice(1)], 185_000)[0]).toMatch(
      /^aof_enabled is 0: .* for 185 s no process gets a new worker id, .* Set appendonly to yes$/,
    );
  });
});
