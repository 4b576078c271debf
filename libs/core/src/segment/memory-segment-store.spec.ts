import { ConfigurationError } from '../config/option-reader.js';
import { SegmentExhaustedError, UnknownCodeError } from './segment-errors.js';
import { MemorySegmentStore, MemorySegmentTable } from './memory-segment-store.js';

describe('The segment store in memory', () => {
  it('hands out (max_id, max_id + step], from 1 on, to all who share the table', async () => {
    const table = new MemorySegmentTable();
    const [one, other] = [new MemorySegmentStore(table).source('a'), new MemorySegmentStore(table).source('a')];
    expect(await one.reserve({ above: 0n })).toEqual({ first: 1n, last: 1_000n, step: 1_000 });
    expect(await other.reserve({ above: 0n, count: 5 })).toEqual({ first: 1_001n, last: 1_005n, step: 1_000 });
  });

  it('goes above what the process has seen', async () => {
    const source = new MemorySegmentStore(new MemorySegmentTable()).source('a');
    expect(await source.reserve({ above: 70n, count: 2 })).toMatchObject({ first: 71n, last: 72n });
  });

  it('answers fewer at the limit, and then none', async () => {
    const table = new MemorySegmentTable();
    table.rows.set('a', { maxId: 0n, step: 10, maxLimitId: 15n });
    const source = new MemorySegmentStore(table).source('a');
    await source.reserve({ above: 0n });
    expect(await source.reserve({ above: 0n })).toMatchObject({ first: 11n, last: 15n });
    await expect(source.reserve({ above: 0n })).rejects.toBeInstanceOf(SegmentExhaustedError);
    await expect(source.reserve({ above: 99n })).rejects.toBeInstanceOf(SegmentExhaustedError);
  });

  it('takes back the last numbers only', async () => {
    const source = new MemorySegmentStore(new MemorySegmentTable()).source('a');
    await source.reserve({ above: 0n, count: 10 });
    await source.reserve({ above: 0n, count: 10 });
    expect(await source.giveBack({ first: 5n, last: 10n })).toBe(false);
    expect(await source.giveBack({ first: 15n, last: 20n })).toBe(true);
    expect(await source.reserve({ above: 0n, count: 1 })).toMatchObject({ first: 15n });
  });

  it('makes rows with the step it was given, or none', async () => {
    const table = new MemorySegmentTable();
    await new MemorySegmentStore(table, { step: 7 }).source('a').reserve({ above: 0n });
    expect(table.rows.get('a')).toEqual({ maxId: 7n, step: 7, maxLimitId: 0n });
    const strict = new MemorySegmentStore(table, { autoCreateCode: false });
    await expect(strict.source('b').reserve({ above: 0n })).rejects.toBeInstanceOf(UnknownCodeError);
    expect(() => new MemorySegmentStore(table, { step: 0 })).toThrow(ConfigurationError);
  });
});
