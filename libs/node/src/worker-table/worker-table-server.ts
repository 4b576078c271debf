import type { WorkerRange, WorkerTable } from '@raindrop/core';
import { floorOf, isUnseenLoss, mustNote, type SessionAges, type StoreTerm } from '@raindrop/core/internal';
import { askWithTerm } from '../database/ask-with-term.js';
import { DatabaseCallError } from '../database/database-call-error.js';
import type { Dialect, Statement } from '../database/dialect.js';
import type { OwnDatabase } from '../database/own-database.js';
import type { SqlResult } from '../database/run-sql.js';
import { execute } from '../database/statement.js';
import type { TableName } from '../database/table-name.js';
import { insertState } from '../tables/state-table.js';
import { prepareWorkerTable, type PrepareOptions } from './prepare-worker-table.js';
import { readState, updateState, type SeenState } from './worker-state.js';
import { insertLayout } from './worker-statements.js';
import { WORKER_TABLE } from './worker-table.js';

export interface WorkerTableServerOptions extends PrepareOptions, Partial<SessionAges> {
  /**
   * How far past the moment of a failover that may have lost commits what was granted before can reach, ms: see reachOf.
   * Who only looks, and never calls `prepare`, may leave it out.
   */
  readonly reachMs?: number;
}

/** Two note what is new, and three need another session; a database that changes its server each time is of no use. */
const MOST_LOOKS = 6;

/** A server that no table was ever seen on. */
const NOBODY: StoreTerm = { nowMs: 0, term: 'nobody', knownTerm: 'nobody', lostAtMs: 0, reachMs: -1 };

/** The server behind a worker table: which one answers, what it may lack, and up to when its rows are not believed. */
export class WorkerTableServer {
  /** Of the server that answered last, and has our rows and layouts; undefined before the first answer. */
  term: string | undefined;
  private readonly reachMs: number;
  /** Undefined before `prepare`: until then nothing is noted. */
  private range: WorkerRange | undefined;
  /** Every layout that was ever seen to have issued IDs: a server that lacks one is told. */
  private readonly layouts = new Set<string>();

  constructor(
    private readonly database: OwnDatabase,
    private readonly name: TableName,
    private readonly options: WorkerTableServerOptions,
  ) {
    this.reachMs = options.reachMs ?? 0;
  }

  /** @throws what prepareWorkerTable throws */
  async prepare(workers: WorkerRange): Promise<void> {
    await this.addWhatIsMissing(workers);
    this.range = workers;
  }

  /** A read of what may be believed: a server that nobody has noted yet is noted first. @throws ReplicaError; TableFormatError */
  async look<T>(
    select: (dialect: Dialect) => Statement,
    read: (records: SqlResult['records'], floorMs: number) => T,
  ): Promise<T> {
    const { renewSessionAfterMs = this.maxSessionAgeMs } = this.options;
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const { records } = await askWithTerm(this.database, select);
      const state = this.stateOf(records);
      if (this.database.isSessionTooOld(records, state.sessionAgeMs, this.maxSessionAgeMs, renewSessionAfterMs))
        continue;
      if (this.range === undefined || !mustNote(state, this.reachMs, this.term)) {
        this.term = state.term;
        return read(records, floorOf(state, this.reachMs));
      }
      await this.note(state, this.range);
    }
    throw new DatabaseCallError('it is another server at every look', '');
  }

  /** The condition under which a row may be written: by a session that is young enough, to the server that was read. */
  get andIsPrimary(): string {
    return this.database.andIsYoung(this.maxSessionAgeMs);
  }

  /** @throws DatabaseRefusedError when the account may not write the state */
  async tryToNote(): Promise<void> {
    const { dialect } = this.database;
    await this.database.call((run) =>
      execute(run, updateState(dialect, this.name, NOBODY, { reachMs: 0, isLost: true })),
    );
  }

  async rememberLayout(fingerprint: string): Promise<void> {
    this.layouts.add(fingerprint);
    await this.database.call((run) => execute(run, insertLayout(this.database.dialect, this.name, fingerprint)));
  }

  /** What was read, once its layouts are known here. */
  withLayouts<Seen extends Pick<WorkerTable, 'layouts'>>(seen: Seen): Seen {
    for (const layout of seen.layouts) this.layouts.add(layout);
    return seen;
  }

  private get maxSessionAgeMs(): number {
    return this.options.maxSessionAgeMs ?? Number.MAX_SAFE_INTEGER;
  }

  private stateOf(records: SqlResult['records']): SeenState {
    try {
      return readState(this.name, records);
    } catch (error) {
      // A new connection may lead elsewhere.
      this.database.reconnect();
      throw error;
    }
  }

  /** Notes the server that answers, after all that it may lack if commits were lost. */
  private async note(state: StoreTerm, workers: WorkerRange): Promise<void> {
    const { reachMs, name, term: before } = this;
    const { dialect } = this.database;
    const isAnother = before !== undefined && before !== state.term;
    if (isAnother) {
      await this.addWhatIsMissing(workers);
      for (const layout of this.layouts) await this.rememberLayout(layout);
    }
    const noting =
      state.knownTerm === undefined
        ? insertState(dialect, name, { term: state.term, reachMs, isLost: isAnother })
        : updateState(dialect, name, state, { reachMs, isLost: isUnseenLoss(state, before) });
    await this.database.call((run) => execute(run, noting));
    this.term = state.term;
  }

  private addWhatIsMissing(workers: WorkerRange): Promise<void> {
    const table = { kind: WORKER_TABLE, dialect: this.database.dialect, name: this.name };
    return this.database.call((run) => prepareWorkerTable(run, table, workers, this.options));
  }
}
