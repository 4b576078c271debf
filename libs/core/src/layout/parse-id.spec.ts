import { InvalidIdError } from '../codec/id-codec.js';
import { TimestampOverflowError } from './layout-errors.js';
import { createLayout } from './layout-options.js';
import { Layout, parseId } from './layout.js';

const now = Date.UTC(2023, 5, 1);

describe('an ID taken apart', () => {
  const layout = createLayout(
    { startTimeStamp: '2023-03-05T13:47:31.750Z', timeStampLength: 31, workIdLength: 10 },
    now,
  );
  const id = (3n << 32n) | (5n << 22n) | (1n << 21n) | 9n;

  it.each([[id], ['12907970569'], [12_907_970_569]])('says what is in it: %p', (given) => {
    expect(parseId(layout, given)).toEqual({
      id,
      time: new Date('2023-03-05T13:47:34Z'),
      tick: 3,
      workerId: 5,
      clockBack: 1,
      sequence: 9,
      endBits: 0,
    });
  });

  it.each([['0x10'], ['1.5'], [' 1'], [2 ** 53], [-1], [-1n], [2n ** 63n]])(
    'is refused when it is none: %p',
    (given) => {
      expect(() => parseId(layout, given)).toThrow(InvalidIdError);
    },
  );

  it('is unsigned where its layout has 64 bits', () => {
    const fields = [
      { name: 'time', role: 'time' as const, bits: 42 },
      { name: 'sequence', role: 'sequence' as const, bits: 22 },
    ];
    const unsigned = new Layout({ fields, unitMs: 1, epochMs: 0 });
    const last = { time: new Date(2 ** 42 - 1), tick: 2 ** 42 - 1, sequence: 2 ** 22 - 1, workerId: 0 };
    expect(parseId(unsigned, 2n ** 64n - 1n)).toMatchObject({ id: 2n ** 64n - 1n, ...last });
    expect(parseId(unsigned, '18446744073709551615')).toMatchObject(last);
    expect(parseId(unsigned, 2n ** 63n).tick).toBe(2 ** 41);
    for (const given of [-1n, 2n ** 64n, '18446744073709551616', 2 ** 53]) {
      expect(() => parseId(unsigned, given)).toThrow(InvalidIdError);
    }
  });

  it('is refused when its time lies beyond every Date', () => {
    const far = createLayout({ startTimeStamp: 0, timeUnit: 'day', timeStampLength: 40, workIdLength: 3 }, now);
    expect(parseId(far, 100_000_000n << 23n).time).toEqual(new Date(8.64e15));
    expect(() => parseId(far, 100_000_001n << 23n)).toThrow(TimestampOverflowError);
  });
});
