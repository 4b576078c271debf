import { PermanentError, RaindropError, RetryableError, UnavailableError } from '../raindrop-error.js';

/** No worker id has been acquired yet, or it is still on probation. */
export class NotReadyError extends RetryableError {
  static override readonly name = 'NotReadyError';
  readonly errorCode = 'NOT_READY';

  constructor(readonly reason: string) {
    super(`No worker id yet: ${reason}. Use an async call to wait, or issue IDs after the application has started.`);
  }
}

/** The worker id was lost, or its lease ran out without a renewal. Another one is being acquired in the background. */
export class LeaseLostError extends RetryableError {
  static override readonly name = 'LeaseLostError';
  readonly errorCode = 'LEASE_LOST';

  constructor(
    readonly workerId: number,
    readonly reason: string,
  ) {
    super(`Worker ${workerId} may not issue IDs: ${reason}. It recovers when it can reach the worker table.`);
  }
}

/** The clock jumped, or the process stood still or was copied: the lease must be confirmed before the next ID. */
export class LeaseSuspectError extends RetryableError {
  static override readonly name = 'LeaseSuspectError';
  readonly errorCode = 'LEASE_SUSPECT';

  constructor(
    readonly workerId: number,
    readonly reason: string,
  ) {
    super(`Worker ${workerId} must confirm its lease before it issues more IDs: ${reason}.`);
  }
}

/** The service was shut down; nothing is issued any more. */
export class ClosedError extends PermanentError {
  static override readonly name = 'ClosedError';
  readonly errorCode = 'CLOSED';

  constructor() {
    super('The ID service is closed: it released its resources and issues no more IDs.');
  }
}

/** This host's clock and the database's are too far apart. */
export class ClockSkewError extends RetryableError {
  static override readonly name = 'ClockSkewError';
  readonly errorCode = 'CLOCK_SKEW';

  constructor(
    /** This host's clock minus the database's, ms. */
    readonly skewMs: number,
    readonly maxClockSkewMs: number,
  ) {
    super(
      `This host's clock is ${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} the database's, ` +
        `more than maxClockSkewMs (${maxClockSkewMs}): synchronise both with NTP.`,
    );
  }
}

/** Counts the rows of the range, and why they cannot be acquired. */
export interface WorkerCensus {
  readonly total: number;
  /** Held by a living lease. */
  readonly live: number;
  /** Last written by another program. */
  readonly foreign: number;
  /** Both odometers are past the present. */
  readonly ahead: number;
  /** Taken by other processes while this one tried. */
  readonly contended: number;
  /** When the first living lease can end, Unix ms by the database's clock; undefined when there is none. */
  readonly freeAtMs: number | undefined;
}

/** Every worker id of the range is taken. */
export class NoFreeWorkerError extends RetryableError {
  static override readonly name = 'NoFreeWorkerError';
  readonly errorCode = 'NO_FREE_WORKER';

  constructor(
    readonly census: WorkerCensus,
    /** How long the rows may not be used, ms, because the store may have lost grants on them. */
    readonly barredForMs = 0,
  ) {
    const { total, live, foreign, ahead, contended, freeAtMs } = census;
    super(
      `No free worker id among ${total}: ${live} held, ${foreign} in use by another program, ${ahead} reserved into ` +
        `the future, ${contended} taken meanwhile. ` +
        (freeAtMs === undefined ? '' : `The next may be free at ${new Date(freeAtMs).toISOString()}. `) +
        (barredForMs === 0
          ? ''
          : `The database has failed over, lost rows or was fenced: free rows can be used in ` +
            `${barredForMs} ms. `) +
        `Widen serviceMinWorkId..serviceMaxWorkId (to twice the number of nodes) or set waitForWorkerMs.`,
    );
  }
}

/** No worker id of the range can issue at the times of a backfill: each is held, or was granted later positions. */
export class NoRowForPastError extends PermanentError {
  static override readonly name = 'NoRowForPastError';
  readonly errorCode = 'NO_ROW_FOR_PAST';

  constructor(
    /** The first time that was wanted, Unix ms. */
    readonly fromMs: number,
    /** The rows of the range; undefined when another layout was found after a row had been acquired. */
    readonly census: WorkerCensus | undefined,
    /** The earliest `from` that a free row has, Unix ms; undefined when there is none up to `to`. */
    readonly lowestMs: number | undefined,
    /** Up to when the database may have lost grants, or was fenced, Unix ms; 0 when it was neither. */
    readonly lostUntilMs = 0,
  ) {
    const rows =
      census === undefined
        ? 'another layout of this worker table has issued later'
        : `${census.total} in the range, ${census.live} held, ${census.foreign} of another program, ` +
          `${census.ahead} used at that time or later`;
    const [from, lowest, lost] = [fromMs, lowestMs, lostUntilMs].map(isoOf);
    super(
      `No worker id can issue IDs from ${from} on: ${rows}. ` +
        (lowest === undefined ? '' : `A from of ${lowest} or later is possible. `) +
        (lostUntilMs === 0
          ? ''
          : `The database has failed over, lost rows or was fenced: what its rows say of the time before ${lost} may be ` +
            `wrong. For that time give a tableName of its own. `) +
        `Give a range of worker ids that no service and no earlier backfill has used, such as serviceMinWorkId 1001 ` +
        `and serviceMaxWorkId 1023.`,
    );
  }
}

/** An ISO time; the number where a Date cannot hold it. */
function isoOf(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms);
}

/**
 * Another layout uses, or has used, this worker table, and its IDs could equal ours. Retryable when all such layouts
 * are of the past, and the clock only has to pass the positions that they reserved.
 */
export class LayoutConflictError extends RaindropError {
  static override readonly name = 'LayoutConflictError';
  readonly errorCode = 'LAYOUT_CONFLICT';

  constructor(
    readonly layout: string,
    /** The conflicting layouts, and the worker ids that are held with them now. */
    readonly conflicts: readonly { readonly layout: string; readonly workerIds: readonly number[] }[],
    /** When all our IDs will be larger than any of theirs, Unix ms by the database's clock; undefined when unknown. */
    readonly clearsAtMs?: number,
  ) {
    const list = conflicts.map((each) =>
      each.workerIds.length > 0
        ? `${each.layout} (held by workers ${each.workerIds.join(', ')})`
        : `${each.layout} (former)`,
    );
    super(
      `Layout ${layout} could repeat IDs of other layouts in this worker table: ${list.join('; ')}. Set an ` +
        `endBitsValue that none of them uses, or another tableName. For a one-way change, stop the old processes ` +
        `first and use a layout whose IDs are all larger.` +
        (clearsAtMs === undefined ? '' : ` From ${new Date(clearsAtMs).toISOString()} on, this layout's are.`),
      { retryable: clearsAtMs !== undefined },
    );
  }
}

/**
 * The database has gone back in time: it shows an earlier write of ours. Nothing is issued until a renewal has healed
 * that.
 */
export class DatabaseRegressionError extends RetryableError {
  static override readonly name = 'DatabaseRegressionError';
  readonly errorCode = 'DATABASE_REGRESSION';

  constructor(
    readonly workerId: number,
    readonly expectedVersion: number,
    readonly foundVersion: number,
  ) {
    super(
      `The database lost committed writes: worker ${workerId} is at version ${foundVersion}, but ${expectedVersion} ` +
        `was acknowledged. Its odometer is raised before the next ID. Check the database's durability settings.`,
    );
  }
}

/** The worker table cannot be read or written right now. */
export class StoreUnavailableError extends UnavailableError {
  static override readonly name = 'StoreUnavailableError';
  readonly errorCode = 'STORE_UNAVAILABLE';

  constructor(what: string, cause: unknown) {
    super('The worker table', what, cause);
  }
}

/**
 * Another program writes to this worker table: it does not know of our leases, nor we of the IDs that it has issued.
 */
export class ForeignRowsError extends PermanentError {
  static override readonly name = 'ForeignRowsError';
  readonly errorCode = 'FOREIGN_ROWS';

  constructor(
    /** The worker ids whose rows it wrote last. */
    readonly workerIds: readonly number[],
  ) {
    const some = workerIds.slice(0, 8).join(', ');
    super(
      `Another program, such as the original in Go, last wrote rows of this worker table (workers ` +
        `${some}${workerIds.length > 8 ? ', ...' : ''}): IDs could repeat. Give this service its own tableName and ` +
        `an endBitsValue that the other program does not use. Or set adoptForeign: true if that program is retired, ` +
        `sharedWithOriginal: true if it keeps running.`,
    );
  }
}

/** The original's programs and this service read the same times in the table as different moments. */
export class ForeignTimeZoneError extends PermanentError {
  static override readonly name = 'ForeignTimeZoneError';
  readonly errorCode = 'FOREIGN_TIME_ZONE';

  /**
   * @param foreignTimeZone as it is configured
   * @param serverZones the offsets from UTC that the database server's zone has within a year, now's first
   */
  constructor(
    readonly foreignTimeZone: string,
    readonly serverZones: readonly string[],
  ) {
    const [now, other] = serverZones;
    const is = other === undefined ? `is ${now}` : `has summer time (${serverZones.join(' and ')})`;
    const way =
      other === undefined
        ? `Set foreignTimeZone: '${now}'.`
        : `Set the server's time_zone, the original's loc and foreignTimeZone to an offset such as '${now}', or give ` +
          `this service its own tableName and another endBitsValue.`;
    super(
      `The original writes times in the database server's time zone. It ${is}, but foreignTimeZone is ` +
        `${foreignTimeZone}: each would take over rows that the other holds. ${way}`,
    );
  }
}
