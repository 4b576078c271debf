import { RaindropError } from '@raindrop/core';

/** What a row says of its numbers. */
export interface SegmentRow {
  /** The highest number ever reserved. */
  readonly maxId: bigint;
  readonly step: number;
  /** 0 for none. */
  readonly maxLimitId: bigint;
  /** How often the server had changed when the row was written last. */
  readonly epoch: bigint;
  /** How often it has by now. */
  readonly serverEpoch: bigint;
  /** Of the server that answers. */
  readonly term: string;
}

/** A row of a segment table holds what Raindrop cannot work with; nothing is guessed. */
export class CorruptSegmentRowError extends RaindropError {
  readonly errorCode = 'CORRUPT_SEGMENT_ROW';

  constructor(
    /** The row in words, such as `code 'orders'`. */
    readonly row: string,
    readonly column: string,
    readonly legal: string,
  ) {
    super(`The segment table's row of ${row} holds a value in column ${column} that is not ${legal}. Correct it.`, {
      retryable: false,
    });
  }
}

const LARGEST_BIGINT = 2n ** 63n - 1n;
const LARGEST_INT = 2n ** 31n - 1n;

/** @throws CorruptSegmentRowError */
export function readSegmentRow(row: string, record: Readonly<Record<string, unknown>>): SegmentRow {
  const integer = (column: string, min: bigint, max: bigint): bigint => {
    const value = wholeNumber(record[column]);
    if (value !== undefined && value >= min && value <= max) return value;
    throw new CorruptSegmentRowError(row, column, `an integer from ${min} to ${max}`);
  };
  return {
    maxId: integer('max_id', 0n, LARGEST_BIGINT),
    step: Number(integer('step', 1n, LARGEST_INT)),
    maxLimitId: integer('max_limit_id', 0n, LARGEST_BIGINT),
    epoch: integer('epoch', 0n, LARGEST_BIGINT),
    serverEpoch: integer('server_epoch', 0n, LARGEST_BIGINT),
    term: String(record['server_term']),
  };
}

/** An integer in whichever form the driver gave it, exact; undefined when it is anything else. */
export function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'string') return /^-?\d{1,19}$/.test(value) ? BigInt(value) : undefined;
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? BigInt(value as bigint | number) : undefined;
}
