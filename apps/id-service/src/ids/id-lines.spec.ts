import { codecs, ClosedError, type CodecName } from '@raindrop/nestjs';
import { idLines, type IdLinesPace } from './id-lines.js';
import { StreamPace } from './stream-pace.js';

const signal = new AbortController().signal;
const freely: IdLinesPace = { pace: new StreamPace(Infinity), closing: signal, gone: signal };

/** Counts up from `first`, and says how many it has given. */
function counting(first = 30_094_321_512_251_392n): {
  given: number;
  fillAsync: (cells: BigInt64Array) => Promise<BigInt64Array>;
} {
  const source = {
    given: 0,
    fillAsync: (cells: BigInt64Array) => {
      for (let index = 0; index < cells.length; index++) cells[index] = first + BigInt(source.given++) * 2n;
      return Promise.resolve(cells);
    },
  };
  return source;
}

async function read(parts: AsyncIterable<Buffer>): Promise<string[]> {
  let text = '';
  for await (const part of parts) text += part.toString();
  expect(text.endsWith('\n')).toBe(true);
  return text.slice(0, -1).split('\n');
}

describe('idLines', () => {
  it.each(Object.keys(codecs) as CodecName[])('writes each ID as a line of JSON, in %s', async (format) => {
    const lines = await read(idLines(counting(), { count: 1_234, format }, freely));
    const ids = lines.map((line) => codecs[format].decode(JSON.parse(line) as string));
    expect(ids).toEqual(Array.from({ length: 1_234 }, (_, index) => 30_094_321_512_251_392n + BigInt(index) * 2n));
  });

  it.each([1, 499, 500, 501, 1_000])('writes %d, no more and no less', async (count) => {
    const source = counting();
    expect(await read(idLines(source, { count, format: 'decimal' }, freely))).toHaveLength(count);
    expect(source.given).toBe(count);
  });

  it('makes no more than a slice ahead of its reader, and lets the event loop turn before each', async () => {
    const source = counting();
    const parts = idLines(source, { count: 10_000_000, format: 'decimal' }, freely);
    for (let read = 1; read <= 5; read++) {
      let hasTurned = false;
      setImmediate(() => (hasTurned = true));
      await parts.next();
      expect(hasTurned).toBe(true);
      expect(source.given).toBe(500 * read);
    }
    await parts.return(undefined);
    expect(source.given).toBe(2_500);
  });

  it.each(['closing', 'gone'] as const)('breaks off when it is %s', async (why) => {
    const end = new AbortController();
    const parts = idLines(counting(), { count: 5_000, format: 'decimal' }, { ...freely, [why]: end.signal });
    await parts.next();
    end.abort(new ClosedError());
    await expect(parts.next()).rejects.toThrow(ClosedError);
  });
});
