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

/** The table of starts is missing and may not be created. */
export class WorkerNodeTableMissingError extends RaindropError {
  readonly errorCode = 'WORKER_NODE_TABLE_MISSING';

  constructor(
    readonly table: string,
    /** The statements that create it, to be run by somebody who may. */
    readonly sql: readonly string[],
    reason: string,
  ) {
    super(
      `${table} is missing from the database, and ${reason}. Run the statements in this error's sql (also printed by ` +
        `workerNodeTableSql()), or add workerNodeTableMigration() to the migrations.`,
      { retryable: false },
    );
  }
}

/** There is a table of that name, but worker ids cannot come from it. */
export class NotAWorkerNodeTableError extends RaindropError {
  readonly errorCode = 'NOT_A_WORKER_NODE_TABLE';

  constructor(
    readonly table: string,
    reason: string,
  ) {
    super(`The table ${table} exists but is no table of starts: ${reason}. Choose another tableName.`, {
      retryable: false,
    });
  }
}
