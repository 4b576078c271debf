import { durabilityOf } from './redis-worker-store.js';

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
      /^aof_enabled is 0: .* for 185 s no worker id .* Set appendonly to yes$/,
    );
  });
});
