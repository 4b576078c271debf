import { ClockBeforeEpochError, InvalidPartError, TimestampOverflowError } from './layout-errors.js';

describe('an error of a layout', () => {
  it('names the clock and the epoch, and may pass', () => {
    const error = new ClockBeforeEpochError(0, Date.UTC(2023, 0, 1));
    expect(error.message).toContain(
      'The clock reads 1970-01-01T00:00:00.000Z, before the epoch 2023-01-01T00:00:00.000Z',
    );
    expect(error).toMatchObject({ name: 'ClockBeforeEpochError', errorCode: 'CLOCK_BEFORE_EPOCH', retryable: true });
    expect(new ClockBeforeEpochError(-9e15, 0).message).toContain('-9000000000000000 ms');
  });

  it('names the tick and the last one, and will not pass', () => {
    const error = new TimestampOverflowError(8, 7);
    expect(error.message).toContain('Tick 8 is past the last tick of this layout, 7');
    expect(error).toMatchObject({ name: 'TimestampOverflowError', errorCode: 'TIMESTAMP_OVERFLOW', retryable: false });
  });

  it('names the part and its range, and will not pass', () => {
    const error = new InvalidPartError('sequence', 9, 7);
    expect(error.message).toBe('sequence = 9 does not fit this layout: it must be an integer from 0 to 7.');
    expect(error).toMatchObject({ name: 'InvalidPartError', errorCode: 'INVALID_PART', retryable: false });
  });
});
