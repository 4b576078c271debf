import { EventEmitter } from 'node:events';
import { codecs, type CodecName } from '@raindrop/nestjs';
import fc from 'fast-check';
import { AnswerBuffers, idLines, idsJson, idsJsonSize } from './id-texts.js';

const plainJson = (ids: readonly bigint[]): string => JSON.stringify({ ids: ids.map(String) });
const written = (ids: BigInt64Array): string => idsJson(ids, Buffer.alloc(idsJsonSize(ids.length))).toString();
const json = (ids: readonly bigint[]): string => written(BigInt64Array.from(ids));

const MOST = 2n ** 63n - 1n;
const anyId = fc.bigInt({ min: 0n, max: MOST });

/** Where a tail, a 32-bit word or the number of digits changes. */
const nearAnEdge = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: 0, max: 62 }).map((bits) => 2n ** BigInt(bits)),
      fc.integer({ min: 0, max: 18 }).map((digits) => 10n ** BigInt(digits)),
      anyId.map((id) => (id / 10_000n) * 10_000n),
    ),
    fc.integer({ min: -9_999, max: 9_999 }),
  )
  .map(([edge, distance]) => edge + BigInt(distance))
  .filter((id) => id >= 0n && id <= MOST);

/** IDs of a batch: steps of one layout, with a jump here and there, up or down. */
const batch = fc
  .record({
    first: fc.oneof(anyId, nearAnEdge),
    step: fc.oneof(fc.constantFrom(1, 2, 16, 1_024, 9_999, 10_000, 2 ** 32), fc.integer({ min: -20_000, max: 20_000 })),
    jumps: fc.array(fc.record({ count: fc.integer({ min: 0, max: 60 }), by: fc.maxSafeInteger() }), { maxLength: 4 }),
    count: fc.integer({ min: 1, max: 60 }),
  })
  .map(({ first, step, jumps, count }) => {
    const ids: bigint[] = [];
    let id = first;
    for (const { count: run, by } of [{ count, by: 0 }, ...jumps]) {
      id += BigInt(by);
      for (let done = 0; done < run; done++, id += BigInt(step)) ids.push(BigInt.asUintN(63, id));
    }
    return ids;
  });

describe('idsJson', () => {
  it('writes what JSON.stringify writes of texts, for every sequence of IDs', () => {
    const anything = fc.array(fc.oneof(anyId, nearAnEdge), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.oneof(batch, anything), (ids) => {
        expect(json(ids)).toBe(plainJson(ids));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['one ID', [30_094_321_512_251_392n]],
    ['the least and the greatest', [0n, MOST, 0n, MOST]],
    ['up through the end of a tail and a digit more', [9_998n, 9_999n, 10_000n, 10_001n, 99_999n, 100_000n]],
    ['down', [10_001n, 10_000n, 9_999n, 9n, 0n]],
    ['all of a low word apart', [5n * 2n ** 32n + 4n, 6n * 2n ** 32n - 1n, 5n * 2n ** 32n + 4n]],
    ['the same low words under other high words', [5_000_000_123n, 5_000_000_123n + 2n ** 32n, 5_000_000_124n]],
  ])('writes %s', (_, ids) => {
    expect(json(ids)).toBe(plainJson(ids));
  });

  it('reads a part of a larger array', () => {
    const ids = BigInt64Array.from({ length: 10 }, (_, index) => BigInt(index) + 123_456_789n);
    expect(written(ids.subarray(3, 6))).toBe(plainJson([...ids.subarray(3, 6)]));
  });
});

describe('idLines', () => {
  it.each(Object.keys(codecs) as CodecName[])('writes each ID as a line of JSON, in %s', (format) => {
    const ids = Array.from({ length: 1_234 }, (_, index) => 30_094_321_512_251_392n + BigInt(index) * 2n);
    const lines = idLines(BigInt64Array.from(ids), format).toString().split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => codecs[format].decode(JSON.parse(line) as string))).toEqual(ids);
  });
});

describe('AnswerBuffers', () => {
  it('lends a buffer again when its response was sent, not before', () => {
    const buffers = new AnswerBuffers(8, 2);
    const response = new EventEmitter();
    const first = buffers.for(response);
    expect(first).toHaveLength(8);
    expect(buffers.for(new EventEmitter())).not.toBe(first);
    response.emit('close');
    expect(buffers.for(new EventEmitter())).not.toBe(first);
    response.emit('finish');
    response.emit('finish');
    expect(buffers.for(new EventEmitter())).toBe(first);
    expect(buffers.for(new EventEmitter())).not.toBe(first);
  });

  it('keeps no more than it may', () => {
    const buffers = new AnswerBuffers(8, 2);
    const responses = Array.from({ length: 5 }, () => new EventEmitter());
    const lent = new Set(responses.map((response) => buffers.for(response)));
    for (const response of responses) response.emit('finish');
    const again = responses.map(() => buffers.for(new EventEmitter()));
    expect(again.filter((buffer) => lent.has(buffer))).toHaveLength(2);
  });
});
