import fc from 'fast-check';
import { InvalidIdError, MAX_ID } from '../../codec/id-codec.js';
import { caught } from '../../../../../test/support/engine/caught.js';
import { SeededRandom } from '../../../../../test/support/engine/seeded-random.js';
import { InvalidAppError, InvalidGatePassError } from './sharded-errors.js';
import {
  composeShardedId,
  InvalidShardedIdPartError,
  MAX_INDEX,
  parseShardedId,
  type ShardedIdParts,
  shardOf,
  SHARDS,
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

/** The definition, word for word. */
function definition(text: string): number {
  let sum = 0n;
  for (let i = 0; i < text.length; i++) sum = sum * 31n + BigInt(text.charCodeAt(i));
  const hash = BigInt.asIntN(32, sum);
  const javaAbs = BigInt.asIntN(32, hash < 0n ? -hash : hash);
  return Number(javaAbs % 64n);
}

describe('The shard of a gate pass', () => {
  it.each([
    ['13900139000', 48],
    ['zhangsan', 12],
    ['polygenelubricants', 0],
    ['a', 97 % 64],
    ['ab', (97 * 31 + 98) % 64],
    ['\0', 0],
    ['\uffff', 0xffff % 64],
    ['\ud83d\ude00', (0xd83d * 31 + 0xde00) % 64],
  ])('of %j is %i', (gatePass, shard) => {
    expect(shardOf(gatePass)).toBe(shard);
  });

  it('is that of the definition for every text, lone surrogates included', () => {
    const texts = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 80 })
      .map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(texts, (text) => {
        expect(shardOf(text)).toBe(definition(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([undefined, null, 5, '', 'x'.repeat(513), {}, ['13900139000']])('is refused of %p', (given) => {
    const error = caught(InvalidGatePassError, () => shardOf(given as string));
    expect(error).toMatchObject({ errorCode: 'INVALID_GATE_PASS', retryable: false });
  });

  it('is refused without the gate pass in the message, which logs may show', () => {
    const secret = '13900139000'.repeat(50);
    expect(caught(InvalidGatePassError, () => shardOf(secret)).message).not.toContain('139');
  });

  // 31 is -1 modulo 32, so of digits little more than two alternating sums is left: they make waves, letters do not.
  it.each([
    [
      'e-mail addresses',
      0.1,
      () => `${random.pick(NAMES)}.${random.below(36 ** 5).toString(36)}@${random.pick(DOMAINS)}`,
    ],
    ['user names of letters', 0.1, () => Array.from({ length: 6 + random.below(7) }, letter).join('')],
    ['user names with a number', 0.3, () => `${random.pick(NAMES)}${random.below(1_000_000)}`],
    ['phone numbers', 0.6, () => `1${30 + random.below(70)}${digits(8)}`],
    ['international phone numbers', 0.6, () => `+49151${digits(8)}`],
  ])('spreads 100,000 %s so that no shard is off by more than %d of its share', (_, tolerance, gatePass) => {
    const counts = new Array<number>(SHARDS).fill(0);
    for (let i = 0; i < 100_000; i++) counts[shardOf(gatePass())]!++;
    const share = 100_000 / SHARDS;
    expect(Math.min(...counts)).toBeGreaterThan((1 - tolerance) * share);
    expect(Math.max(...counts)).toBeLessThan((1 + tolerance) * share);
  });

  it('leaves no shard without phone numbers of one block, and none with more than two shares', () => {
    const counts = new Array<number>(SHARDS).fill(0);
    for (let i = 0; i < 100_000; i++) counts[shardOf(`+49151${String(i).padStart(7, '0')}`)]!++;
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(Math.max(...counts)).toBeLessThan((2 * 100_000) / SHARDS);
  });
});

const NAMES = ['zhangsan', 'lisi', 'anna', 'jose', 'olga', 'kwame', 'yuki', 'wangwei', 'maria', 'peter'];

const DOMAINS = ['example.com', 'mail.example.org', 'test.example.net'];

/** The same gate passes at every run. */
const random = new SeededRandom(1);

const digits = (count: number): string => String(random.below(10 ** count)).padStart(count, '0');

const letter = (): string => String.fromCharCode(97 + random.below(26));
