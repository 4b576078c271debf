import { MAX_ID, type SegmentBounds } from '@raindrop/core/internal';
import type { ReservedSegment, Segment, SegmentRequest, SegmentSource } from '@raindrop/core';
import { randomBytes } from 'node:crypto';
import { execute, type RunStatement, type SqlResult } from '../database/dialect.js';
import { DatabaseCallError } from '../database/database-errors.js';
import type { SegmentDatabase } from './segment-database.js';
import {
  CorruptSegmentRowError,
  returnNumbers,
  type NumberReturn,
  readSegmentRow,
  type RowAddress,
  type SegmentRow,
  selectSegmentRow,
  reserveNumbers,
  reservedUpTo,
  type NumberReservation,
} from './segment-statements.js';

/** A row of numbers, and the differences of its table. */
interface SourceRow {
  /** The columns of the primary key, and this row's values. */
  readonly key: RowAddress['key'];
  /** The row in words, such as `code 'orders'`. */
  readonly name: string;
  /** Whether each write has its own `version`. */
  readonly hasVersion: boolean;
  readonly bounds: SegmentBounds;
  /** The error if the database cannot hold the key; undefined if it can hold every key. */
  unstorable?(reason: string): Error;
  /** Creates the row if it is missing, or throws. */
  create(run: RunStatement): Promise<void>;
}

/** The numbers that this source has reserved without a gap, up to its last write of the row. */
interface Taken extends Segment, Pick<SegmentRow, 'serverFailoverNumber' | 'term'> {
  readonly version: bigint | undefined;
}

/** Between this process's read of the row and its UPDATE other processes may change it. */
const TRIES = 16;

/** Numbers from one row, each reservation a single UPDATE by primary key. */
export class TableSegmentSource implements SegmentSource {
  /** The row as last seen; its settings are part of every UPDATE's condition. */
  private seen: SegmentRow | undefined;
  private taken: Taken | undefined;

  constructor(
    private readonly database: SegmentDatabase,
    private readonly row: SourceRow,
  ) {}

  private get address(): RowAddress {
    const { dialect, name } = this.database.table;
    return { dialect, name, key: this.row.key };
  }

  async reserve(request: SegmentRequest): Promise<ReservedSegment> {
    const { count = 1 } = request;
    if (!Number.isSafeInteger(count) || count < 1) throw new RangeError(`count must be at least 1, not ${count}`);
    return this.database.call(`reserving numbers of ${this.row.name}`, async (run) => {
      for (let tries = 1; tries <= TRIES; tries++) {
        const segment = await this.attempt(run, request).catch((error: unknown) => {
          const { dialect } = this.database.table;
          if (!(error instanceof DatabaseCallError) || !dialect.lacksCharacters(error.driverCode)) throw error;
          throw this.row.unstorable?.(error.reason) ?? error;
        });
        if (segment !== undefined) return segment;
        this.seen = undefined;
      }
      throw new DatabaseCallError(
        `others changed the row of ${this.row.name} at each of ${TRIES} attempts, or row level security, a trigger ` +
          `or a rule suppresses its UPDATE`,
        '',
      );
    });
  }

  giveBack({ first, last }: Segment): Promise<boolean> {
    const { taken, row } = this;
    if (taken === undefined || last !== taken.last || first < taken.first || first > last) {
      return Promise.resolve(false);
    }
    // The UPDATE is sent once at most, also where its outcome is unknown.
    this.taken = undefined;
    const maxId = first - 1n;
    const versions = taken.version === undefined ? undefined : { expected: taken.version, next: randomVersion() };
    return this.database.call(`returning numbers of ${row.name}`, async (run) => {
      if (!(await this.returnUnused(run, { taken, last, maxId, versions }))) return false;
      if (this.seen !== undefined) this.seen = { ...this.seen, maxId };
      if (first > taken.first) this.taken = { ...taken, last: maxId, version: versions?.next };
      return true;
    });
  }

  /** Undefined when the row was not as it was seen; nothing is reserved then. */
  private async attempt(run: RunStatement, { count, above }: SegmentRequest): Promise<ReservedSegment | undefined> {
    const isFresh = this.seen === undefined;
    const seen = (this.seen ??= await this.read(run));
    const ceiling = this.row.bounds.ceiling(seen.maxLimitId);
    // Each failover may have lost acknowledged reservations.
    const skip = (seen.serverFailoverNumber - seen.failoverNumber) * BigInt(this.database.skipAfterFailover);
    const room = ceiling - larger(seen.maxId + skip, above);
    if (room < 1n) {
      if (isFresh) throw this.row.bounds.exhausted(seen.maxLimitId);
      return undefined;
    }
    const wanted = BigInt(count ?? seen.step);
    return this.take(run, seen, { above, skip, count: wanted < room ? wanted : room, ceiling });
  }

  private async take(
    run: RunStatement,
    seen: SegmentRow,
    numbers: Pick<NumberReservation, 'above' | 'skip' | 'count' | 'ceiling'>,
  ): Promise<ReservedSegment | undefined> {
    const { address } = this;
    const { hasVersion, name } = this.row;
    const { above, count } = numbers;
    const version = hasVersion ? randomVersion() : undefined;
    const reservation = reserveNumbers(address, { ...numbers, row: seen, version, and: this.database.andIsPrimary });
    const last = reservedUpTo(address.dialect, await execute(run, reservation));
    if (last === 'nothing') return undefined;
    if (last === undefined || last < above + count) {
      throw new DatabaseCallError(`the database did not report which numbers of ${name} it reserved`, '');
    }
    const first = last - count + 1n;
    this.seen = { ...seen, maxId: last, failoverNumber: seen.serverFailoverNumber };
    const { term, serverFailoverNumber } = seen;
    const begun = this.taken?.last === first - 1n && this.taken.term === term ? this.taken.first : first;
    this.taken = { first: begun, last, version, term, serverFailoverNumber };
    return { first, last, step: seen.step };
  }

  /**
   * The UPDATE requires the version of this source's last write: executed twice, or on a database that went back in
   * time, it changes nothing. A table without versions has only `max_id` to compare. That is enough: while `max_id` is
   * `last`, every number up to `last` is reserved, and the numbers given back are this source's; and the UPDATE is sent
   * once.
   */
  private async returnUnused(run: RunStatement, request: NumberReturn): Promise<boolean> {
    return (await execute(run, returnNumbers(this.address, request))).affected === 1;
  }

  private async read(run: RunStatement): Promise<SegmentRow> {
    const { key, name } = this.row;
    const select = (): Promise<SqlResult> => this.database.ask(() => selectSegmentRow(this.address));
    let { records } = await this.database.primary(select);
    if (records.length === 0) {
      await this.row.create(run);
      ({ records } = await this.database.primary(select));
    }
    const [record, second] = records;
    if (record === undefined) throw new DatabaseCallError(`the row of ${name} was deleted at the same moment`, '');
    for (const [column, value] of Object.entries(key)) {
      if (second !== undefined) throw new CorruptSegmentRowError(name, column, 'unique: it must have a primary key');
      if (String(record[column]) === String(value)) continue;
      // A hand-made table may compare without case, or without trailing blanks.
      throw new CorruptSegmentRowError(name, column, 'the same text: its collation must compare byte by byte');
    }
    return readSegmentRow(name, record);
  }
}

/** A number that no other write has. */
function randomVersion(): bigint {
  return randomBytes(8).readBigUInt64BE() & MAX_ID;
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
