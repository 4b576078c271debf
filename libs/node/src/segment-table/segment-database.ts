import { RaindropError, SegmentStoreUnavailableError } from '@raindrop/core';
import { FailoverGuard, type BelievedServer, type Look, type StoreTerm } from '@raindrop/core/internal';
import { askWithTerm, failoverWarnings, judgePrimary } from '../database/judge-primary.js';
import { DatabaseCallError } from '../database/database-errors.js';
import { OwnDatabase } from '../database/own-database.js';
import {
  execute,
  type RunSql,
  type RunStatement,
  type SqlResult,
  type SqlValue,
  type Statement,
} from '../database/dialect.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { parseTableName, type TableName } from '../database/table-name.js';
import { safeInteger } from '../database/sql-values.js';
import {
  hasVanished,
  type MissingParts,
  prepareTable,
  storageWarnings,
  TableMissingError,
} from '../tables/prepare-table.js';
import { checkFormat, stateTableOf } from '../tables/state-table.js';
import type { Table, TableKind } from '../tables/table-kind.js';
import { insertSegmentRows, noteServer, selectServers } from './segment-statements.js';

export interface SegmentDatabaseOptions {
  /** `table` or `schema.table`. */
  readonly tableName: string;
  /** Whether a missing table is created. */
  readonly autoCreateTable: boolean;
  /**
   * Limit for connecting, for a busy SQLite and for closing, ms. A server that has not answered a statement after twice
   * as long is given up, with the connection; before that a late answer is still of use.
   */
  readonly opTimeoutMs: number;
  /** How many numbers of a row are skipped after a failover, which may have lost reservations. */
  readonly skipAfterFailover: number;
  /**
   * How old a session may be that reserves, ms; default 60,000. A session leads to the server that was the primary when
   * it began. A primary that was replaced and lives on gives out numbers over its old sessions until they are that old.
   */
  readonly maxSessionAgeMs?: number;
}

const MAX_SESSION_AGE_MS = 60_000;

/** The primary's answer, and how often the server of the table had changed by then. */
interface PrimaryAnswer {
  readonly records: SqlResult['records'];
  readonly failoverNumber: bigint;
}

/**
 * The database of a table of segments, over a connection of its own. Errors that may pass become
 * SegmentStoreUnavailableError.
 */
export class SegmentDatabase {
  private readonly database: OwnDatabase;
  private readonly name: TableName;
  private readonly guard = new FailoverGuard(0);

  /** @throws UnsupportedDatabaseError, InvalidTableNameError */
  constructor(
    database: SqlDatabase,
    private readonly kind: TableKind,
    private readonly options: SegmentDatabaseOptions,
  ) {
    const { tableName, opTimeoutMs } = options;
    this.database = new OwnDatabase(database, { opTimeoutMs, statementTimeoutMs: 2 * opTimeoutMs });
    this.name = parseTableName(tableName, database.schema);
    this.guard.mayWrite = true;
  }

  get table(): Table {
    return { kind: this.kind, dialect: this.database.dialect, name: this.name };
  }

  get skipAfterFailover(): number {
    return this.options.skipAfterFailover;
  }

  /** @throws what prepareTable throws; SegmentStoreUnavailableError in place of a retryable error */
  prepare(): Promise<void> {
    const { autoCreateTable } = this.options;
    return this.call('preparing the table', (run) => {
      const judge = (found: MissingParts): Promise<void> => this.refuseVanished(run, found);
      return prepareTable(run, this.table, { autoCreateTable, judge });
    });
  }

  /**
   * Nothing tells how far the numbers of a vanished table had got, and no wait helps: made anew they begin again at 1.
   */
  private async refuseVanished(run: RunSql, found: MissingParts): Promise<void> {
    if (!(await hasVanished(run, this.table, found))) return;
    const state = stateTableOf(this.name).name;
    const { name } = this.name;
    throw new TableMissingError(
      this.table,
      // The statements that make the table anew would let its numbers begin at 1: none is shown.
      { ...found, sql: [] },
      `it existed before: ${state} remains. Recreated, its numbers would start again at 1`,
      `Restore ${name} from a backup and raise every max_id by more than can have been reserved since; or, to start ` +
        `again, drop ${state} as well.`,
    );
  }

  /** @throws SegmentStoreUnavailableError in place of a retryable error; other errors as they are */
  call<T>(what: string, work: (run: RunStatement) => Promise<T>): Promise<T> {
    return named(what, this.database.call(work));
  }

  /** Runs a statement that asks for the server's term, as part of a {@link call}. */
  ask(write: (table: Table) => Statement): Promise<SqlResult> {
    return askWithTerm(this.database, () => write(this.table));
  }

  /**
   * Adds rows where they are missing, as part of a {@link call}. A failover may have lost such a row: its numbers begin
   * above all that it can have had, `skipAfterFailover` for each failover.
   */
  async addRows(columns: readonly string[], rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const { failoverNumber } = await this.primary(() => this.ask(({ dialect, name }) => selectServers(dialect, name)));
    const maxId = failoverNumber * BigInt(this.skipAfterFailover);
    await this.database.call((run) =>
      execute(run, insertSegmentRows(this.table, columns, rows, { maxId, failoverNumber })),
    );
  }

  /**
   * Reads with a statement that also selects the server: over a session that is young enough, and from the primary,
   * once it is recorded. A statement that finds no row tells of no server either: nothing is judged then. Each look may
   * find none, as a failover may have lost the row.
   * @throws ReplicaError; FormerPrimaryError; ServerHiddenError; TableFormatError
   */
  async primary(read: () => Promise<SqlResult>): Promise<PrimaryAnswer> {
    try {
      const { answer: records, seen } = await this.guard.readBelieved({
        read: async () => {
          const found = (await read()).records;
          if (found.length === 0) throw new NoRow();
          return found;
        },
        judge: (found, isFirst) => this.judge(found, isFirst),
        completeAndRecord: ({ seen, verdict }) => this.record(seen, verdict.failoverNumber),
        anotherEachTime: () =>
          new DatabaseCallError('another server answers each time: do all addresses lead to one primary?', ''),
      });
      return { records, failoverNumber: BigInt(seen.failoverNumber) };
    } catch (error) {
      if (error instanceof NoRow) return { records: [], failoverNumber: 0n };
      throw error;
    }
  }

  private judge(answer: SqlResult['records'], isFirst: boolean): Look<SqlResult['records']> | undefined {
    const record = answer[0]!;
    checkFormat(this.name, record['format']);
    if (this.database.isSessionTooOld(answer, safeInteger(record['session_age_ms']) ?? 0, this.maxSessionAgeMs)) {
      return undefined;
    }
    const seen = serverIn(record);
    const verdict = judgePrimary(this.database, this.guard, seen, isFirst);
    if (verdict === undefined) return undefined;
    const isBehind = (safeInteger(record['epoch']) ?? 0) > seen.failoverNumber;
    // Another server lacks nothing but reservations, which its failover number lets every row skip.
    return { answer, seen, verdict: { ...verdict, isAnother: false, mustRecord: verdict.mustRecord || isBehind } };
  }

  private async record(seen: StoreTerm, failoverNumber: number): Promise<BelievedServer> {
    const { dialect } = this.table;
    await this.database.call((run) => execute(run, noteServer(dialect, this.name, seen, failoverNumber)));
    return { term: seen.term, failoverNumber };
  }

  /** A condition of every reservation, to be added. */
  get andIsPrimary(): string {
    return this.database.andIsYoung(this.maxSessionAgeMs);
  }

  private get maxSessionAgeMs(): number {
    return this.options.maxSessionAgeMs ?? MAX_SESSION_AGE_MS;
  }

  /** @throws SegmentStoreUnavailableError */
  async durabilityWarnings(): Promise<readonly string[]> {
    const cure = 'raise max_id of every row after a failover, by more than can have been lost';
    const storage = this.database.call((run) => storageWarnings(run, this.table));
    return [
      ...(await named('looking at its tables', storage)),
      ...(await named('reading its settings', this.database.durabilityWarnings())),
      ...(await failoverWarnings(this.database, this.guard.believed?.term, {
        maxSessionAgeMs: this.maxSessionAgeMs,
        cure,
      })),
    ];
  }

  close(): Promise<void> {
    return this.database.close();
  }
}

/** The server in a record. Segments count failovers by their failover number; the times of failovers are left out. */
function serverIn(record: SqlResult['records'][number]): StoreTerm {
  const known = record['known_term'];
  const failoverNumber = safeInteger(record['server_epoch']) ?? 0;
  return {
    term: String(record['server_term']),
    knownTerm: typeof known === 'string' ? known : undefined,
    failoverNumber,
    nowMs: 0,
    lostAtMs: failoverNumber,
    reachMs: 0,
  };
}

async function named<T>(what: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RaindropError && !error.retryable) throw error;
    throw new SegmentStoreUnavailableError(what, error);
  }
}

/** A statement found no row. */
class NoRow extends Error {}
