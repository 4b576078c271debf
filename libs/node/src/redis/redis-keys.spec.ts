import fc from 'fast-check';
import { RedisKeys } from './redis-keys.js';

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
