import { type FenceRequest, type WorkerRange, type WorkerTable, ClockSkewError } from '@raindrop/core';
import {
  FailoverGuard,
  fenceMs,
  MOST_LOOKS,
  judgeFence,
  type BelievedServer,
  type Look,
  type ServerVerdict,
  type SessionAges,
  wallClock,
  type WrittenRow,
} from '@raindrop/core/internal';
import { askWithTerm, judgePrimary } from '../database/judge-primary.js';
import { REPLICA, ReplicaError } from '../database/server-term.js';
import { DatabaseCallError, DatabaseRefusedError, isOfServer } from '../database/database-errors.js';
import { type Dialect, execute, type SqlResult, type Statement } from '../database/dialect.js';
import type { OwnDatabase } from '../database/own-database.js';
import type { TableName } from '../database/table-name.js';
import { isGone, saysGone } from '../tables/prepare-table.js';
import { insertState } from '../tables/state-table.js';
import type { Table } from '../tables/table-kind.js';
import { preparedness, prepareWorkerTable, type PrepareOptions } from './prepare-worker-table.js';
import {
  firstOfSample,
  insertLayout,
  noteServer,
  readLatestTimes,
  readState,
  type SeenState,
  selectLatestTimes,
  stateColumns,
  versionIn,
} from './worker-statements.js';
import { WORKER_TABLE } from './worker-table.js';

export interface WorkerTableServerOptions extends PrepareOptions, Partial<SessionAges> {
  /**
   * How far grants from before a failover reach past it, ms: see grantReachMs. A caller that only reads, and never
   * calls `prepare`, may leave it out.
   */
  readonly reachMs?: number;
  /**
   * How far this host's clock and the database's may be apart when a failover is recorded, ms. No limit when left out.
   */
  readonly maxClockSkewMs?: number;
  /** Whether a crash of the server may take rows back, with which the lease reckons: see `commitLossWindowMs`. */
  readonly losesCommits?: boolean;
}

/**
 * The server behind a worker table: which server answers, what it may lack, and the moment before which no odometer
 * counts.
 */
export class WorkerTableServer {
  readonly guard: FailoverGuard;
  /** The loss of all rows that this process has recorded last. */
  private noted: BelievedServer | undefined;
  /** Undefined before `prepare`: until then nothing is recorded. */
  private range: WorkerRange | undefined;

  constructor(
    private readonly database: OwnDatabase,
    private readonly name: TableName,
    private readonly options: WorkerTableServerOptions,
  ) {
    this.guard = new FailoverGuard(options.reachMs ?? 0, options.losesCommits);
  }

  /** @throws what prepareWorkerTable throws */
  async prepare(workers: WorkerRange): Promise<void> {
    await this.addWhatIsMissing(workers);
    this.range = workers;
    this.guard.mayWrite = true;
  }

  /**
   * Reads what may be believed, where `prepare` would change nothing and nothing is to be recorded: one statement tells
   * all of it, as it was at one moment. What the server refuses, such as a table that is missing, is left to `prepare`.
   * @returns undefined where `prepare` has to be called
   * @throws ReplicaError; FormerPrimaryError; ServerHiddenError; TableFormatError
   */
  async readPrepared<T>(
    workers: WorkerRange,
    select: (dialect: Dialect, more: ReturnType<typeof preparedness>['expressions']) => Statement,
    read: (records: SqlResult['records'], verdict: ServerVerdict) => T,
  ): Promise<T | undefined> {
    const { expressions, isPrepared } = preparedness(this.table, workers, { hasServed: this.guard.layouts.size > 0 });
    const asked = askWithTerm(this.database, (dialect) => select(dialect, expressions), true);
    const answer = await asked.catch((error: unknown) => {
      if (isLeftToPrepare(error)) return undefined;
      throw error;
    });
    if (answer === undefined || !isPrepared(firstOfSample(answer.records))) return undefined;
    const look = this.judge(answer.records, true);
    if (look === undefined) return undefined;
    this.range = workers;
    this.guard.mayWrite = true;
    return this.guard.believe(look.seen, look.verdict) ? read(answer.records, look.verdict) : undefined;
  }

  /**
   * Reads what may be believed: a failover that no process has recorded yet is recorded first.
   * @throws ReplicaError; FormerPrimaryError; ServerHiddenError; ClockSkewError; TableFormatError
   */
  async readBelieved<T>(
    select: (dialect: Dialect) => Statement,
    read: (records: SqlResult['records'], verdict: ServerVerdict) => T,
  ): Promise<T> {
    const { answer, verdict } = await this.guard.readBelieved({
      read: async () => (await askWithTerm(this.database, select)).records,
      judge: (found, isFirst) => this.judge(found, isFirst),
      completeAndRecord: (look, mayLackRows) => this.completeAndRecord(look, mayLackRows),
      anotherEachTime: () => new DatabaseCallError('every read reaches another server', ''),
    });
    return read(answer, verdict);
  }

  private judge(answer: SqlResult['records'], isFirst: boolean): Look<SqlResult['records']> | undefined {
    const { renewSessionAfterMs = this.maxSessionAgeMs } = this.options;
    const seen = { ...readState(this.name, answer), versionOf: (id: number) => versionIn(answer, id) };
    if (this.database.isSessionTooOld(answer, seen.sessionAgeMs, this.maxSessionAgeMs, renewSessionAfterMs)) {
      return undefined;
    }
    const verdict = judgePrimary(this.database, this.guard, seen, isFirst);
    return verdict && { answer, seen, verdict };
  }

  private async completeAndRecord({ seen, verdict }: Look<unknown>, mayLackRows: boolean): Promise<BelievedServer> {
    if (verdict.isNewFailover) this.refuseSkew(seen.nowMs);
    const { failoverNumber, isNewFailover } = verdict;
    const server = { term: seen.term, failoverNumber };
    const completed = mayLackRows ? await this.addWhatItLacks(server) : server;
    if (verdict.mustRecord) {
      const { earlierRow } = verdict;
      const note = { failoverNumber, isNewFailover, reachMs: this.guard.reachMs, earlierRow };
      await this.database.call((run) => execute(run, noteServer(this.database.dialect, this.name, seen, note)));
    }
    return completed;
  }

  /** The term of the server that answers. @throws ReplicaError */
  async termNow(): Promise<string> {
    const term = (dialect: Dialect): Statement => ({ sql: `SELECT ${dialect.term} AS term`, values: [] });
    const found = String((await askWithTerm(this.database, term)).records[0]!['term']);
    if (found === REPLICA) this.refuseReplica();
    return found;
  }

  /**
   * Judges the server that is to be fenced.
   * @returns its term, from when the fence counts, and the reach of this process there
   * @throws ReplicaError; ClockSkewError; ClockBehindError; TableFormatError
   */
  async judgeFence(
    request: FenceRequest,
  ): Promise<{ readonly term: string; readonly fromMs: number; readonly ownReachMs: number }> {
    const { records } = await askWithTerm(this.database, (dialect) => selectLatestTimes(dialect, this.name));
    const seen = readState(this.name, records);
    if (seen.term === REPLICA) this.refuseReplica();
    this.refuseSkew(seen.nowMs, request.maxClockSkewMs);
    // An account without the right to read the term does not notice a failover: the fence bars for the full reach.
    const ownReachMs = this.database.dialect.hasServers ? this.guard.reachMs : 0;
    const forMs = fenceMs(request, seen.reachMs, ownReachMs);
    const { fromMs } = judgeFence({ ...readLatestTimes(records[0]!), ...seen }, request, { nowMs: seen.nowMs, forMs });
    return { term: seen.term, fromMs, ownReachMs };
  }

  private refuseReplica(): never {
    this.database.reconnect();
    throw new ReplicaError();
  }

  /**
   * Whether the server that was believed says that the table is not there. That the database is missing must be the
   * answer of two new sessions: an address may lead to several servers.
   * @throws ReplicaError; an error that tells neither
   */
  async isGone(sessions = 2): Promise<boolean> {
    let term: string;
    try {
      term = await this.termNow();
    } catch (error) {
      if (!saysGone(this.database.dialect, error)) throw error;
      return sessions === 1 || this.isGone(sessions - 1);
    }
    if (this.guard.believed !== undefined && this.guard.believed.term !== term) return false;
    return this.database.call(async (run) => {
      const { records } = await run(`SELECT ${this.database.dialect.term} AS term`);
      return String(records[0]?.['term']) === term && (await isGone(run, this.table));
    });
  }

  /** Makes the table ready again after a row was lost: all rows may be gone, with all odometers. */
  async prepareAgain(lost: WrittenRow): Promise<void> {
    if (this.range !== undefined) await this.addWhatIsMissing(this.range, lost);
  }

  /** The condition under which a row may be written: by a session that is young enough, to the server that was read. */
  get andIsPrimary(): string {
    return this.database.andIsYoung(this.maxSessionAgeMs);
  }

  /**
   * Records a failover, in a transaction that is rolled back.
   * @returns `hidden` where a SELECT does not find the state that was recorded or found, `refused` where it does not
   * change: another process may have changed it meanwhile
   * @throws DatabaseRefusedError when the account may not write the state
   */
  tryToNote(): Promise<'noted' | 'hidden' | 'refused'> {
    const { database, name } = this;
    return database.rolledBack(async (run) => {
      const { dialect } = database;
      const read = async (): Promise<SeenState> =>
        readState(name, (await execute(run, { sql: `SELECT ${stateColumns(dialect, name)}`, values: [] })).records);
      const { term } = await read();
      await execute(run, insertState(dialect, name, { term, failoverNumber: '0' }));
      const seen = await read();
      if (seen.knownTerm === undefined) return 'hidden';
      const note = { failoverNumber: seen.failoverNumber + 1, isNewFailover: true, reachMs: seen.reachMs };
      const { affected } = await execute(run, noteServer(dialect, name, seen, note));
      return affected === 1 ? 'noted' : 'refused';
    });
  }

  async rememberLayout(fingerprint: string): Promise<void> {
    this.guard.noteLayouts([fingerprint]);
    await this.database.call((run) => execute(run, insertLayout(this.database.dialect, this.name, fingerprint)));
  }

  /** Notes the layouts of what was read. */
  withLayouts<Seen extends Pick<WorkerTable, 'layouts'>>(seen: Seen): Seen {
    this.guard.noteLayouts(seen.layouts);
    return seen;
  }

  private get maxSessionAgeMs(): number {
    return this.options.maxSessionAgeMs ?? Number.MAX_SAFE_INTEGER;
  }

  /**
   * The moment of a failover is recorded by the database's clock and counts for all processes: a wrong clock is
   * refused.
   */
  private refuseSkew(nowMs: number, maxClockSkewMs = this.options.maxClockSkewMs ?? Number.MAX_SAFE_INTEGER): void {
    const skewMs = wallClock.now() - nowMs;
    if (Math.abs(skewMs) > maxClockSkewMs) throw new ClockSkewError(skewMs, maxClockSkewMs);
  }

  /** @returns the server with the failover number in which it has our rows and layouts */
  private async addWhatItLacks(server: BelievedServer): Promise<BelievedServer> {
    this.noted = undefined;
    await this.addWhatIsMissing(this.range!);
    for (const layout of this.guard.layouts) await this.rememberLayout(layout);
    // Rows that were gone were recorded as a loss meanwhile, which has raised the server's failover number.
    const noted = this.noted as BelievedServer | undefined;
    return noted?.term === server.term ? noted : server;
  }

  private addWhatIsMissing(workers: WorkerRange, lost?: WrittenRow): Promise<void> {
    const basis = { hasServed: this.guard.layouts.size > 0, lost, rowsAreGone: () => this.noteLoss() };
    return this.database.call((run) => prepareWorkerTable(run, this.table, workers, this.options, basis));
  }

  private get table(): Table {
    return { kind: WORKER_TABLE, dialect: this.database.dialect, name: this.name };
  }

  /** Records that the rows are gone, with all odometers: every start waits until all earlier grants are past. */
  private async noteLoss(): Promise<void> {
    const { dialect } = this.database;
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const state = (each: Dialect): Statement => ({ sql: `SELECT ${stateColumns(each, this.name)}`, values: [] });
      const seen = readState(this.name, (await askWithTerm(this.database, state)).records);
      const verdict = judgePrimary(this.database, this.guard, seen, looks === 0);
      if (verdict === undefined) continue;
      this.refuseSkew(seen.nowMs);
      const note = {
        isNewFailover: true,
        reachMs: this.guard.reachMs,
        failoverNumber: Math.max(verdict.failoverNumber, seen.failoverNumber + 1, seen.nowMs),
      };
      const noting = noteServer(dialect, this.name, seen, note);
      // Nothing is written where another process was faster. It may have recorded another state.
      if ((await this.database.call((run) => execute(run, noting))).affected === 1) {
        this.noted = { term: seen.term, failoverNumber: note.failoverNumber };
        this.guard.noteRecorded(this.noted, seen.nowMs);
        return;
      }
    }
    throw new DatabaseCallError('its state differs at every read', '');
  }
}

/** Whether the server has answered with an error that a look of `prepare` explains. A wrong password is tried once. */
function isLeftToPrepare(error: unknown): boolean {
  if (error instanceof DatabaseRefusedError) return error.refusal !== 'account';
  return error instanceof DatabaseCallError && isOfServer(error.driverCode);
}
