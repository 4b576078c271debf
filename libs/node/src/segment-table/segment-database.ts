import { RaindropError } from '@raindrop/core';
import { SegmentStoreUnavailableError, type BelievedServer, type StoreTerm } from '@raindrop/core/internal';
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
  /** So many numbers of a row are skipped after a failover, which may have lost reservations. */
  readonly skipAfterFailover: number;
  /**
   * How old a session of the server may be that reserves, ms; default 60,000. It leads to the server that was the primary
   * when it began: one that is no primary any more, and lives on, would go on giving out numbers for as long.
   */
  readonly maxSessionAgeMs?: number;
}

const MAX_SESSION_AGE_MS = 60_000;

/**
 * A look may need a younger session, or ask for the term anew, and what is new is noted, perhaps by another process at the
 * same moment. A database that changes its server at each of them is of no use.
 */
const MOST_LOOKS = 8;

/** The database of a table of segments, over a connection of its own; what may pass is a SegmentStoreUnavailableError. */
export class SegmentDatabase {
  private readonly database: OwnDatabase;
  private readonly name: TableName;
  /** The server whose answer was believed last; undefined before the first. */
  private believed: BelievedServer | undefined;

  /** @throws UnsupportedDatabaseError, InvalidTableNameError */
  constructor(
    database: SqlDatabase,
    private readonly kind: TableKind,
    private readonly options: SegmentDatabaseOptions,
  ) {
    const { tableName, opTimeoutMs } = options;
    this.database = new OwnDatabase(database, { opTimeoutMs, statementTimeoutMs: 2 * opTimeoutMs });
    this.name = parseTableName(tableName, database.schema);
  }

  get table(): Table {
    return { kind: this.kind, dialect: this.database.dialect, name: this.name };
  }

  get skipAfterFailover(): number {
    return this.options.skipAfterFailover;
  }

  /** @throws what prepareTable throws, or SegmentStoreUnavailableError for what may pass by itself */
  prepare(): Promise<void> {
    const { autoCreateTable } = this.options;
    return this.call('preparing the table', (run) => {
      const judge = (found: MissingParts): Promise<void> => this.refuseVanished(run, found);
      return prepareTable(run, this.table, { autoCreateTable, judge });
    });
  }

  /** How far the numbers had got nobody knows, and no wait helps: they would begin again at 1. */
  private async refuseVanished(run: RunSql, found: MissingParts): Promise<void> {
    if (!(await hasVanished(run, this.table, found))) return;
    const state = stateTableOf(this.name).name;
    const { name } = this.name;
    throw new TableMissingError(
      this.table,
      // Its statements would begin at 1.
      { ...found, sql: [] },
      `it was there: its ${state} is left. Made anew its numbers would begin again at 1`,
      `Restore ${name} from a backup and raise every max_id by more than can have been reserved since; or, to begin anew, ` +
        `drop ${state} as well.`,
    );
  }

  /** @throws SegmentStoreUnavailableError for what may pass by itself; what cannot keeps its name */
  call<T>(what: string, work: (run: RunStatement) => Promise<T>): Promise<T> {
    return named(what, this.database.call(work));
  }

  /** Runs a statement that asks for the server's term, as part of a {@link call}. */
  ask(write: (table: Table) => Statement): Promise<SqlResult> {
    return askWithTerm(this.database, () => write(this.table));
  }

  /** Adds rows where they are missing, as part of a {@link call}. A row that was there on a server before may be lost. */
  async addRows(columns: readonly string[], rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const { epoch } = await this.primary(() => this.ask(({ dialect, name }) => selectServers(dialect, name)));
    const maxId = epoch * BigInt(this.skipAfterFailover);
    await this.database.call((run) => execute(run, insertSegmentRows(this.table, columns, rows, { maxId, epoch })));
  }

  /**
   * What a statement reads that selects the server, too: of the primary, in a session that is young enough, once its server
   * is noted.
   * @throws ReplicaError; FormerPrimaryError; ServerHiddenError; TableFormatError
   */
  async primary(
    read: () => Promise<SqlResult>,
  ): Promise<{ readonly records: SqlResult['records']; readonly epoch: bigint }> {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const { records } = await read();
      // Without a row there is nobody to ask: whoever adds one asks.
      if (records.length === 0) return { records, epoch: 0n };
      const record = records[0]!;
      checkFormat(this.name, record['format']);
      if (this.database.isSessionTooOld(records, safeInteger(record['session_age_ms']) ?? 0, this.maxSessionAgeMs))
        continue;
      const seen = serverIn(record);
      const verdict = judgePrimary(this.database, seen, 0, this.believed, looks === 0);
      if (verdict === undefined) continue;
      const isBehind = (safeInteger(record['epoch']) ?? 0) > seen.epoch;
      if (!verdict.mustRecord && !isBehind) {
        this.believed = { term: seen.term, epoch: seen.epoch };
        return { records, epoch: BigInt(seen.epoch) };
      }
      const { dialect } = this.table;
      await this.database.call((run) => execute(run, noteServer(dialect, this.name, seen, verdict.epoch)));
    }
    throw new DatabaseCallError('another server answers each time: do all addresses lead to one primary?', '');
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
    const cure = 'raise max_id of every row after one, by more than can have been lost';
    const storage = this.database.call((run) => storageWarnings(run, this.table));
    return [
      ...(await named('looking at its tables', storage)),
      ...(await named('reading its settings', this.database.durabilityWarnings())),
      ...(await failoverWarnings(this.database, this.believed?.term, { maxSessionAgeMs: this.maxSessionAgeMs, cure })),
    ];
  }

  close(): Promise<void> {
    return this.database.close();
  }
}

/** Here failovers are counted, and no moment of theirs is of interest. */
function serverIn(record: SqlResult['records'][number]): StoreTerm {
  const known = record['known_term'];
  const epoch = safeInteger(record['server_epoch']) ?? 0;
  return {
    ...{ term: String(record['server_term']), knownTerm: typeof known === 'string' ? known : undefined, epoch },
    ...{ nowMs: 0, lostAtMs: epoch, reachMs: 0 },
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
