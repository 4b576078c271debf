import { RaindropError } from '../raindrop-error.js';

/** A layout that a store of worker ids remembers. */
export interface RememberedLayout {
  readonly fingerprint: string;
  /** What it is, in words; undefined when the fingerprint is none. */
  readonly description: string | undefined;
  /** The worker ids that hold it now. */
  readonly workerIds: readonly number[];
  /** The last write of a row that has it; undefined when other layouts have all rows by now. */
  readonly lastUsed: Date | undefined;
}

/** The options name no layout, and the store of the worker ids does not tell which it has to be. */
export class UnclearLayoutError extends RaindropError {
  readonly errorCode = 'UNCLEAR_LAYOUT';

  /**
   * @param reason a sentence without its end
   * @param layouts those that may be meant
   */
  constructor(
    readonly reason: string,
    readonly layouts: readonly RememberedLayout[] = [],
  ) {
    const list = layouts.map((each) => `\n  - ${describe(each)}`).join('');
    super(
      `The options name no layout, and ${reason}${list === '' ? '' : `:${list}\n`}${list === '' ? '. ' : ''}Set the options of the ` +
        `layout that the IDs of this service have: startTimeStamp, timeUnit, timeStampLength, workIdLength, endBitsLength and ` +
        `endBitsValue, or layout.`,
      { retryable: false },
    );
  }
}

function describe({ fingerprint, description, workerIds, lastUsed }: RememberedLayout): string {
  const use =
    workerIds.length > 0
      ? `workers ${workerIds.slice(0, 8).join(', ')}${workerIds.length > 8 ? ', ...' : ''} have it now`
      : lastUsed === undefined
        ? 'no row shows when it was last used'
        : `last used at ${lastUsed.toISOString()}`;
  return `${fingerprint}: ${description ?? 'no layout that this release can read'}; ${use}`;
}
