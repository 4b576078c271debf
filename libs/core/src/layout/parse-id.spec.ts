import { InvalidIdError } from '../codec/invalid-id-error.js';
import { TimestampOverflowError } from './layout-errors.js';
import { createLayout } from './layout-options.js';
import { parseId } from './parse-id.js';

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

  it('is refused when its time lies beyond every Date', () => {
    const far = createLayout({ startTimeStamp: 0, timeUnit: 'day', timeStampLength: 40, workIdLength: 3 }, now);
    expect(parseId(far, 100_000_000n << 23n).time).toEqual(new Date(8.64e15));
    expect(() => parseId(far, 100_000_001n << 23n)).toThrow(TimestampOverflowError);
  });
});
