import { MAX_ID } from '@raindrop/core/internal';
import type { ReservedSegment, Segment, SegmentRequest, SegmentSource } from '@raindrop/core';
import { randomBytes } from 'node:crypto';
import type { RunStatement } from '../database/run-sql.js';
import { execute } from '../database/statement.js';
import { DatabaseCallError } from '../database/database-call-error.js';
import type { SegmentDatabase } from './segment-database.js';
import { CorruptSegmentRowError, readSegmentRow, type SegmentRow } from './segment-row.js';
import {
  giveNumbersBack,
  selectSegmentRow,
  takenUpTo,
  takeNumbers,
  type GivingBack,
  type RowAddress,
} from './segment-statements.js';

/** A row that numbers come from, and what is particular to its table. */
export interface SourceRow {
  readonly address: RowAddress;
  /** In words, such as `code 'orders'`. */
  readonly name: string;
  /** Whether writes are told apart by a `version`. */
  readonly hasVersion: boolean;
  /** The highest number under this `max_limit_id`. */
  ceiling(maxLimitId: bigint): bigint;
  /** What is thrown when all numbers up to the ceiling are taken. */
  exhausted(maxLimitId: bigint): Error;
  /** The row is not there: makes it, or throws. */
  create(run: RunStatement): Promise<void>;
}

/** What this source has taken, without a gap, by the row's last write. */
interface Taken extends Segment {
  readonly version: bigint | undefined;
}

/** Others may change the row, or take its last numbers, between our look at it and our write. */
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

  async reserve(request: SegmentRequest): Promise<ReservedSegment> {
    const { count = 1 } = request;
    if (!Number.isSafeInteger(count) || count < 1) throw new RangeError(`count must be at least 1, not ${count}`);
    return this.database.call(`reserving numbers of ${this.row.name}`, async (run) => {
      for (let tries = 1; tries <= TRIES; tries++) {
        const segment = await this.attempt(run, request);
        if (segment !== undefined) return segment;
        this.seen = undefined;
      }
      throw new DatabaseCallError(`the row of ${this.row.name} was changed by others at each of ${TRIES} tries`, '');
    });
  }

  giveBack({ first, last }: Segment): Promise<boolean> {
    const { taken, row } = this;
    if (taken === undefined || last !== taken.last || first < taken.first || first > last) {
      return Promise.resolve(false);
    }
    // Sent once at most, whatever becomes of it.
    this.taken = undefined;
    const maxId = first - 1n;
    const versions = taken.version === undefined ? undefined : { expected: taken.version, next: randomVersion() };
    return this.database.call(`giving numbers of ${row.name} back`, async (run) => {
      if (!(await this.putBack(run, { last, maxId, versions }))) return false;
      if (this.seen !== undefined) this.seen = { ...this.seen, maxId };
      if (first > taken.first) this.taken = { first: taken.first, last: maxId, version: versions?.next };
      return true;
    });
  }

  /** Undefined when the row was not as it was seen; nothing is reserved then. */
  private async attempt(run: RunStatement, { count, above }: SegmentRequest): Promise<ReservedSegment | undefined> {
    const isFresh = this.seen === undefined;
    const seen = (this.seen ??= await this.read(run));
    const ceiling = this.row.ceiling(seen.maxLimitId);
    const room = ceiling - larger(seen.maxId, above);
    if (room < 1n) {
      if (isFresh) throw this.row.exhausted(seen.maxLimitId);
      return undefined;
    }
    const wanted = BigInt(count ?? seen.step);
    return this.take(run, seen, { above, count: wanted < room ? wanted : room, ceiling });
  }

  private async take(
    run: RunStatement,
    seen: SegmentRow,
    { above, count, ceiling }: { readonly above: bigint; readonly count: bigint; readonly ceiling: bigint },
  ): Promise<ReservedSegment | undefined> {
    const { address, hasVersion, name } = this.row;
    const version = hasVersion ? randomVersion() : undefined;
    const taking = takeNumbers(address, { row: seen, above, count, ceiling, version });
    const last = takenUpTo(address.dialect, await execute(run, taking));
    if (last === 'nothing') return undefined;
    if (last === undefined || last < above + count) {
      throw new DatabaseCallError(`the database did not tell which numbers of ${name} it has reserved`, '');
    }
    const first = last - count + 1n;
    this.seen = { ...seen, maxId: last };
    this.taken = { first: this.taken?.last === first - 1n ? this.taken.first : first, last, version };
    return { first, last, step: seen.step };
  }

  /**
   * The version is that of our own last write, so a second execution changes nothing, nor does one on a database that
   * has gone back in time. In a table without versions `max_id` must do: all numbers up to it are reserved by somebody
   * and those given back by nobody else than us, whatever others reserved and gave back since; and it is sent only once.
   */
  private async putBack(run: RunStatement, request: GivingBack): Promise<boolean> {
    return (await execute(run, giveNumbersBack(this.row.address, request))).affected === 1;
  }

  private async read(run: RunStatement): Promise<SegmentRow> {
    const { address, name } = this.row;
    const select = selectSegmentRow(address);
    let { records } = await execute(run, select);
    if (records.length === 0) {
      await this.row.create(run);
      ({ records } = await execute(run, select));
    }
    const [record, second] = records;
    if (record === undefined) throw new DatabaseCallError(`the row of ${name} was deleted in the same moment`, '');
    for (const [column, value] of Object.entries(address.key)) {
      if (second !== undefined) throw new CorruptSegmentRowError(name, column, 'unique: it must have a primary key');
      if (String(record[column]) === String(value)) continue;
      // A table made by hand may compare without case, or without trailing blanks.
      throw new CorruptSegmentRowError(name, column, 'the same text: its collation must compare byte by byte');
    }
    return readSegmentRow(name, record);
  }
}

/** A number that tells this write from every other one. */
function randomVersion(): bigint {
  return randomBytes(8).readBigUInt64BE() & MAX_ID;
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
