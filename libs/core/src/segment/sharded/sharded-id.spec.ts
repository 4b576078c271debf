import fc from 'fast-check';
import { InvalidIdError, MAX_ID } from '../../codec/id-codec.js';
import { caught } from '../../../../../test/support/engine/caught.js';
import { InvalidAppError } from './sharded-errors.js';
import {
  composeShardedId,
  InvalidShardedIdPartError,
  MAX_INDEX,
  parseShardedId,
  type ShardedIdParts,
} from './sharded-id.js';

const parts = fc.record({
  index: fc.bigInt({ min: 0n, max: MAX_INDEX }),
  shard: fc.integer({ min: 0, max: 63 }),
  app: fc.integer({ min: 0, max: 255 }),
});

describe('A sharded ID', () => {
  it.each([
    [{ index: 1n, shard: 0, app: 0 }, 16_384n],
    [{ index: 1n, shard: 48, app: 7 }, 16_384n + 48n * 256n + 7n],
    [{ index: 2n ** 31n, shard: 12, app: 255 }, 2n ** 45n + 12n * 256n + 255n],
    [{ index: MAX_INDEX, shard: 63, app: 255 }, MAX_ID],
  ])('of %p is %p', (each, id) => {
    expect(composeShardedId(each)).toBe(id);
  });

  it('has the bits of its parts, at any index', () => {
    fc.assert(
      fc.property(parts, (each) => {
        const bits = (each.index << 14n) | (BigInt(each.shard) << 8n) | BigInt(each.app);
        expect(composeShardedId(each)).toBe(bits);
      }),
    );
  });

  it('is taken apart into what it was made of, from any form', () => {
    fc.assert(
      fc.property(parts, (each) => {
        const id = composeShardedId(each);
        expect(parseShardedId(id)).toEqual(each);
        expect(parseShardedId(String(id))).toEqual(each);
      }),
    );
  });

  it('is another one wherever the app, the shard or the index differ', () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const same = one.index === other.index && one.shard === other.shard && one.app === other.app;
        expect(composeShardedId(one) === composeShardedId(other)).toBe(same);
      }),
    );
  });

  it.each([-1, 256, 1.5, NaN, '7', undefined, null, 7n])('takes no app %p', (app) => {
    const make = (): bigint => composeShardedId({ index: 1n, shard: 0, app } as ShardedIdParts);
    expect(caught(InvalidAppError, make)).toMatchObject({ errorCode: 'INVALID_APP', retryable: false });
  });

  it.each([
    ['index', { index: -1n, shard: 0, app: 0 }],
    ['index', { index: MAX_INDEX + 1n, shard: 0, app: 0 }],
    ['index', { index: 1, shard: 0, app: 0 }],
    ['shard', { index: 1n, shard: 64, app: 0 }],
    ['shard', { index: 1n, shard: -1, app: 0 }],
    ['shard', { index: 1n, shard: 0.5, app: 0 }],
  ])('takes no %s out of range: %p', (part, each) => {
    expect(caught(InvalidShardedIdPartError, () => composeShardedId(each as ShardedIdParts)).part).toBe(part);
  });

  it('is read from IDs only', () => {
    expect(caught(InvalidIdError, () => parseShardedId('-1')).errorCode).toBe('INVALID_ID');
  });
});
