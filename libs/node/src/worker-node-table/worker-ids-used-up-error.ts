import { RaindropError } from '@raindrop/core';

/** Every worker id of the range has been used by some start; none is used twice. */
export class WorkerIdsUsedUpError extends RaindropError {
  readonly errorCode = 'WORKER_IDS_USED_UP';

  constructor(
    readonly table: string,
    /** The highest worker id that may be used. */
    readonly maxWorkerId: number,
    /** The highest id in the table. */
    readonly reached: number,
  ) {
    super(
      `All worker ids up to ${maxWorkerId} are used up: ${table} is at ${reached}, and 'disposable' uses none twice. Widen ` +
        `serviceMaxWorkId if the layout has more; otherwise take a layout whose IDs differ from all the old ones (another ` +
        `endBitsValue or datacenterId) with a new table, or the database lease, which gives ids back.`,
      { retryable: false },
    );
  }
}
