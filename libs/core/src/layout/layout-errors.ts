import { PermanentError, RetryableError } from '../raindrop-error.js';

/** The clock has run past the last tick that the timestamp bits can hold: the layout has expired. */
export class TimestampOverflowError extends PermanentError {
  static override readonly name = 'TimestampOverflowError';
  readonly errorCode = 'TIMESTAMP_OVERFLOW';

  constructor(
    readonly tick: number,
    readonly maxTick: number,
  ) {
    super(
      `Tick ${tick} is past this layout's last tick, ${maxTick}: its timestamp bits are used up. Move to a layout ` +
        `that cannot repeat the old IDs: with an unused endBitsValue, or on a new table.`,
    );
  }
}

/** The clock is before the layout's epoch, where ticks would be negative. */
export class ClockBeforeEpochError extends RetryableError {
  static override readonly name = 'ClockBeforeEpochError';
  readonly errorCode = 'CLOCK_BEFORE_EPOCH';

  constructor(
    readonly nowMs: number,
    readonly epochMs: number,
  ) {
    super(
      `The clock reads ${isoOrMs(nowMs)}, before the epoch ${isoOrMs(epochMs)} (startTimeStamp): ` +
        `correct the host's clock, or use an earlier epoch for new data.`,
    );
  }
}

/** A part given to `pack`, or an ID or a date given to a layout, does not fit it. */
export class InvalidPartError extends PermanentError {
  static override readonly name = 'InvalidPartError';
  readonly errorCode = 'INVALID_PART';

  constructor(
    readonly part: string,
    readonly given: unknown,
    readonly max: number | bigint,
    legal = `an integer from 0 to ${max}`,
  ) {
    super(`${part} = ${String(given)} does not fit this layout: it must be ${legal}.`);
  }
}

function isoOrMs(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}
