import { RaindropError } from '../raindrop-error.js';

/** Another program writes to this worker table: it knows nothing of our leases, nor we of what it has issued. */
export class ForeignRowsError extends RaindropError {
  readonly errorCode = 'FOREIGN_ROWS';

  constructor(
    /** The worker ids whose rows it wrote last. */
    readonly workerIds: readonly number[],
  ) {
    const some = workerIds.slice(0, 8).join(', ');
    super(
      `Another program, such as Raindrop's original in Go, was the last to write rows of this worker table ` +
        `(workers ${some}${workerIds.length > 8 ? ', ...' : ''}): IDs could repeat. Give this service a tableName of its own and an ` +
        `endBitsValue that the other program does not have; or set adoptForeign: true when that program has been ` +
        `retired; or sharedWithOriginal: true while it goes on running.`,
      { retryable: false },
    );
  }
}

/** The original's programs take our times for other moments than we do, and we theirs. */
export class ForeignTimeZoneError extends RaindropError {
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
        : `Set the server's time_zone to an offset such as '${now}', the original's loc and foreignTimeZone too, or give ` +
          `this service a tableName of its own and another endBitsValue.`;
    super(
      `The database server's time zone, in which the original's programs write their times, ${is}; foreignTimeZone is ` +
        `${foreignTimeZone}: one would take the other's living rows for dead ones. ${way}`,
      { retryable: false },
    );
  }
}
