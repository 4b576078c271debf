import { RetryableError } from '../raindrop-error.js';
import type { Odometer, ServedAlone, WorkerRow, WorkerTable, WorkerWrite } from './worker-store.js';

/**
 * How a process judges the server that answers. Every store derives its judgement from this: `judgeServer` for SQL,
 * etcd and NATS, and the script JUDGE for Redis. Both pass test/support/stores/failover-cases.ts.
 *
 * **What a server says**, from its own memory: its term, which it has as long as it is the primary; the term that was
 * recorded last, and the failover number of that record; when a loss was recorded; up to when a fence bars; where there
 * is one, the revision of the store; the versions of rows. It may have lost any of them, back to an earlier moment.
 *
 * **What a process knows**, of the server that it believed last: its term and its failover number; when it answered
 * last; the version of the row that this process has written there last; up to when this process was granted IDs by any
 * server, or has asked for them in a write whose answer was lost. A process that has just begun knows nothing, and
 * believes any record.
 *
 * **A server that shows less than the process knows has lost writes.** By the record, and by the failover number in it:
 *
 * | the record names | number | it is | the process |
 * |---|---|---|---|
 * | no server | | the first of all, where the process knows of no record | records it |
 * | no server | | one that has forgotten its record | records a loss |
 * | another server | | one that has taken over, which no process has recorded yet | records a loss |
 * | the one that answers | the same | the same server | believes it |
 * | the one that answers | the same | one that went back: its revision, or the written row, is earlier | records a loss |
 * | the one that answers | the same, and another server was believed | one of two that were recorded side by side | records a loss |
 * | the one that answers | a later one | one that was recorded later: its bar covers what the process knows | believes it |
 * | the one that answers | a later one | one that went back after that bar: the written row is earlier | records a loss |
 * | the one that answers | a later one | one that began anew, or serves beside another: no bar covers that | records a loss |
 * | the one that answers | an earlier one | one that went back | records a loss |
 * | the one that answers | an earlier one, and another server was believed | a former primary | refuses it |
 *
 * **Why the bar decides about a later record.** Each number is raised by a first record, which bars nothing, by a loss
 * or by a fence. The last two bar all rows for a reach. What the server before has granted by then ends with that bar.
 * The process compares the bar with when that server answered it last, and with its own grants. Example: B is replaced by
 * A at 12:00:00, and A bars until 12:03:38. B lives on unnoticed, and at 12:10:00 the process is led from B to A: the bar
 * does not cover what B granted it up to 12:11:05, and the process records a loss. Another example: A is fenced at
 * 12:00:00, after B was cut off. The process comes from B at 12:02:00. The fence covers all that B granted, so nothing is
 * lost. In Redis the last answer counts only once the process has seen a row in use: an operator may make a Redis ready
 * by hand while the first process waits. Where neither the table nor the process has a reach, a loss bars nothing past
 * its own moment: there it covers all of a server that has answered last before it, as each process would record it anew.
 *
 * **A limit.** What a replaced server that lives on grants to other processes is known to those alone. Example: B answers
 * the process for the last time at 12:03:35, inside the bar of A, and has renewed the row of another process at 12:03:30
 * up to 12:04:35. The other process dies. The process believes A, and may take at 12:03:38 the row that A shows.
 * The same holds for a server that was fenced before the old one was cut off: the fence bars from its own moment.
 *
 * **Clocks.** A grant that no loss recorded now would reach is of a clock that was ahead, or the one that answers is
 * behind. The server is believed, and once its clock comes near the end of that grant the process records a loss. Redis
 * compares its clock with that of the process, and such a process refuses it.
 *
 * **Numbers.** A record takes the clock's Unix ms, or 1 more than all numbers that were seen where that is later. A loss
 * that only a row tells of takes 1 more in any case: a former primary may crash under a process that does not know its
 * successor, and stays earlier than that. Where two living primaries have one number, the one whose term comes later
 * takes 2 more: they get different numbers, and the one with the lower number is refused from then on. After a fence the
 * number is 120 s ahead of the clock. Where the fenced server dies at once, and a process that has just begun records a
 * new, empty one, all that have believed the fenced one refuse the new one: nothing tells it from a primary that was
 * recorded just before the fence by a clock that was ahead. The operator fences the new one, or restarts those processes.
 *
 * **Two copies with one term**, which answer in turn, cannot be told apart. Each shows less than the other, so that a
 * loss is recorded at each turn, and all starts wait until one copy is stopped.
 *
 * **Rows.** Where `commitLossWindowMs` is set, a crash of an SQL server may take rows back, and the lease itself
 * reckons with that: there the version of a row tells of no loss. An operator may have deleted a row that an SQL table
 * lacks, so that it tells of none either. In Redis, etcd and NATS no row is ever deleted. A state file records no
 * losses, so its rows are not judged: all processes must be stopped before it is replaced. Under a bar that lasts, an
 * earlier row is taken for what that loss has cost, and counts from then on.
 *
 * **What no process knows cannot be judged.** A process that has just begun may take a row that went back before the
 * holder looks, up to a heartbeat later. So an operator fences after a restore, whatever the processes notice.
 */

/** The server whose rows this process believed last. */
export interface BelievedServer {
  /** Tells servers apart; '' where nothing does. */
  readonly term: string;
  /**
   * Goes up with every failover that is recorded: one server may be the primary twice, with the same term. A record
   * takes its own Unix ms where that is higher, so that a table which begins anew comes after the one before; 0 before
   * the first record.
   */
  readonly failoverNumber: number;
  /** Goes up with every write to the server, and never back, where a store has such a number. */
  readonly revision?: number;
}

/** What this process knows of the server that it believed last. */
export interface KnownServer extends BelievedServer {
  /** The server's clock when it was believed last, Unix ms. Left out where that is unknown: then it may be the present. */
  readonly seenAtMs?: number;
  /**
   * Up to when this process was granted IDs, or has asked for them, there and at servers before, Unix ms. Left out where
   * it was granted none.
   */
  readonly grantedMs?: number;
  /** Up to when servers before have granted it more than this one bars, Unix ms. Left out where the bar covers that. */
  readonly owedMs?: number;
  /** The row that this process has written there last. */
  readonly written?: WrittenRow;
}

/** A row as a process has written it: versions never go down. */
export type WrittenRow = Pick<WorkerRow, 'id' | 'version'>;

/**
 * A store's description of the server that keeps its rows. A term lasts as long as the server is the primary, through
 * restarts. The server promoted in its place has another term, and may lack writes that the first one has acknowledged.
 */
export interface StoreTerm extends BelievedServer {
  /** The store's clock, Unix ms. */
  readonly nowMs: number;
  /** The term that was recorded last, as this server has it; undefined before the first record. */
  readonly knownTerm: string | undefined;
  /** When the last failover was recorded, Unix ms; 0 when there was none. */
  readonly lostAtMs: number;
  /** How far grants of any process reach past that moment at most, ms; see grantReachMs. */
  readonly reachMs: number;
  /** Until when a fence bars every row, Unix ms; see fence.ts. Left out before the first one. */
  readonly fencedUntilMs?: number;
  /** What the last fence states of a layout. Left out where it states nothing. */
  readonly servedAlone?: ServedAlone;
  /**
   * The version of a row, as the answer shows it; -1 for a row that is missing and cannot have been deleted by an
   * operator; undefined where the answer tells nothing of it.
   */
  readonly versionOf?: (id: number) => number | undefined;
}

/** How this process treats the server that answers. */
export interface ServerVerdict {
  /** It is not the server that was believed last: it may lack rows, layouts and grants that this process knows of. */
  readonly isAnother: boolean;
  /** A failover that no process has recorded yet: grants may be lost. */
  readonly isNewFailover: boolean;
  /** The row that alone tells of that, as it was written. */
  readonly earlierRow?: WrittenRow;
  /** The state has to be written before the rows are believed. */
  readonly mustRecord: boolean;
  /** The failover number to record; the server's own where nothing has to be recorded. */
  readonly failoverNumber: number;
  /** Up to when grants may be lost, and no odometer is believed, Unix ms; 0 when nothing was lost. */
  readonly lostUntilMs: number;
  /** The same, and until when a fence bars every row. */
  readonly barredUntilMs: number;
  /** As {@link StoreTerm} has it, for losses too. */
  readonly servedAlone?: ServedAlone;
}

/**
 * Judges the server that answers by what it says of itself and by what this process knows of the one that it believed
 * last, by the rule above.
 *
 * Example: server A is the primary at failover 1, server B is recorded at failover 2. A process that has believed B
 * refuses A as long as A says 1. When A is rebuilt from B and promoted again, it says that B's term is the known one: A
 * is recorded at failover 3.
 * @param wasRestored the server's memory went back in time, although it has the same term and possibly the same
 * failover number
 * @throws FormerPrimaryError
 */
export function judgeServer(
  seen: StoreTerm,
  ownReachMs: number,
  believed: KnownServer | undefined,
  wasRestored = false,
): ServerVerdict {
  const { nowMs, term, knownTerm, failoverNumber, lostAtMs } = seen;
  const standing = standingOf(seen, ownReachMs, believed, wasRestored);
  if (standing === 'former primary') throw new FormerPrimaryError();
  const isNewFailover = standing !== 'believed';
  const earlierRow = standing === 'lost by its row' ? believed?.written : undefined;
  const isAnother = believed !== undefined && (believed.term !== term || believed.failoverNumber !== failoverNumber);
  const reachMs = Math.max(seen.reachMs, ownReachMs);
  // A loss that was recorded in the future, while clocks were ahead, stays: IDs of that time may exist.
  const lostMs = isNewFailover ? Math.max(nowMs, lostAtMs) : lostAtMs;
  const lostUntilMs = lostMs === 0 ? 0 : lostMs + reachMs;
  const isRecorded = knownTerm === term;
  const hasTerms = term !== '' || (knownTerm ?? '') !== '';
  const least = isNewFailover ? numberAfter(seen, believed) : failoverNumber;
  const takesClock = knownTerm === undefined || (isNewFailover && earlierRow === undefined);
  return {
    isAnother: isAnother || isNewFailover,
    isNewFailover,
    mustRecord: isNewFailover || (hasTerms && (!isRecorded || seen.reachMs < ownReachMs)),
    failoverNumber: takesClock ? Math.max(least, nowMs) : least,
    lostUntilMs,
    barredUntilMs: Math.max(lostUntilMs, seen.fencedUntilMs ?? 0),
    ...(earlierRow && { earlierRow }),
    ...(seen.servedAlone && { servedAlone: aloneAfterLoss(seen.servedAlone, lostUntilMs) }),
  };
}

type Standing = 'believed' | 'lost' | 'lost by its row' | 'former primary';

/** A server by the rule above; `believed` stands for all that may be believed. */
function standingOf(
  seen: StoreTerm,
  ownReachMs: number,
  believed: KnownServer | undefined,
  wasRestored: boolean,
): Standing {
  const { nowMs, term, knownTerm, failoverNumber } = seen;
  if (knownTerm !== undefined && knownTerm !== term && knownTerm !== '') return 'lost';
  if (believed === undefined) return 'believed';
  const isOther = believed.term !== term;
  // The record of a server that has just got its name, or of one that has none, is as good as one of its own.
  const isNamed = believed.term !== '';
  if (knownTerm === undefined && (isOther || believed.failoverNumber > 0)) return 'lost';
  if (failoverNumber < believed.failoverNumber) {
    return isOther && isNamed && knownTerm === term ? 'former primary' : 'lost';
  }
  const isLater = failoverNumber > believed.failoverNumber;
  const barMs = barIn(seen, ownReachMs);
  const ofRow = showsEarlierRow(seen, believed) ? 'lost by its row' : 'believed';
  if (isOther && !isNamed) return ofRow;
  if (isLater) {
    // It has granted nothing before the first record.
    const isFirst = believed.failoverNumber === 0 && believed.written === undefined && !believed.grantedMs;
    if (!(isFirst && !isOther) && !isCovered(seen, ownReachMs, believed)) return 'lost';
    return isOther || barMs >= nowMs ? 'believed' : ofRow;
  }
  return isOther || wasRestored || isOwed(seen, ownReachMs, believed) ? 'lost' : ofRow;
}

/** Up to when a server bars all rows, Unix ms; 0 when there is neither a loss nor a fence. */
function barIn({ lostAtMs, reachMs, fencedUntilMs = 0 }: StoreTerm, ownReachMs: number): number {
  return Math.max(lostAtMs === 0 ? 0 : lostAtMs + Math.max(reachMs, ownReachMs), fencedUntilMs);
}

/** The latest end of a loss that is recorded now, Unix ms. */
function reachNow({ nowMs, reachMs }: StoreTerm, ownReachMs: number): number {
  return nowMs + Math.max(reachMs, ownReachMs);
}

/**
 * Whether the bar of a later record covers all that this process knows of the server before. A time that no loss
 * recorded now would reach is of a clock that was ahead: then it is enough that a bar is there.
 */
function isCovered(seen: StoreTerm, ownReachMs: number, known: KnownServer): boolean {
  const { nowMs } = seen;
  const { seenAtMs = nowMs, grantedMs = 0, owedMs = 0 } = known;
  if (hasNoReach(seen, ownReachMs) && seen.lostAtMs >= seenAtMs) return true;
  const knownMs = Math.max(seenAtMs, grantedMs, owedMs);
  return barIn(seen, ownReachMs) >= (knownMs > reachNow(seen, ownReachMs) ? nowMs : knownMs);
}

/** Where a loss bars nothing past its own moment, one process after the other would record it anew for its grants. */
function hasNoReach({ reachMs }: StoreTerm, ownReachMs: number): boolean {
  return Math.max(reachMs, ownReachMs) === 0;
}

/** Whether a loss that is recorded now reaches what could not be covered before: the clock that answers was behind. */
function isOwed(seen: StoreTerm, ownReachMs: number, { owedMs = 0 }: KnownServer): boolean {
  if (hasNoReach(seen, ownReachMs)) return false;
  return owedMs > barIn(seen, ownReachMs) && owedMs <= reachNow(seen, ownReachMs);
}

function showsEarlierRow({ versionOf }: StoreTerm, { written }: KnownServer): boolean {
  if (written === undefined) return false;
  const found = versionOf?.(written.id);
  return found !== undefined && found < written.version;
}

/** A number after all that were seen. Two servers that were recorded with one number never get one again. */
function numberAfter({ term, knownTerm, failoverNumber }: StoreTerm, believed: KnownServer | undefined): number {
  if (believed === undefined) return failoverNumber + 1;
  const isBeside = knownTerm === term && failoverNumber === believed.failoverNumber;
  const step = isBeside && believed.term < term ? 2 : 1;
  return Math.max(failoverNumber, believed.failoverNumber) + step;
}

/** What an operator has stated, after a loss of commits up to `untilMs`. */
export function aloneAfterLoss({ layout, lostUntilMs }: ServedAlone, untilMs: number): ServedAlone {
  return { layout, lostUntilMs: Math.max(lostUntilMs, untilMs) };
}

/** One look at a store: what was read, what the server says of itself, and how the guard judges it. */
export interface Look<Answer> {
  readonly answer: Answer;
  readonly seen: StoreTerm;
  readonly verdict: ServerVerdict;
}

/** The server behind a store, as {@link FailoverGuard.readBelieved} uses it. */
export interface GuardedServer<Answer> {
  /** Reads from the server that answers. */
  read(): Promise<Answer>;
  /**
   * Judges the server that has answered, at once: while a promise is awaited another call may believe another server.
   * @param isFirst false when an earlier look of the same call led to this one
   * @returns undefined where the answer is of no use, because its session was too old for example: the next look
   * follows
   */
  judge(answer: Answer, isFirst: boolean): Look<Answer> | undefined;
  /**
   * Adds the rows and layouts that the server may lack, where `mayLackRows` is true. Then records the server where the
   * verdict says so, unless another process has done so meanwhile.
   * @returns the server, with the failover number in which it has them
   */
  completeAndRecord(look: Look<Answer>, mayLackRows: boolean): Promise<BelievedServer>;
  /** Makes the error of a server that is another one at every look. */
  anotherEachTime(): Error;
}

/**
 * A look may have to be repeated over a younger session, and every failover that is found has to be recorded, perhaps
 * by another process at the same moment. A store whose server is another one at each of so many looks is of no use.
 */
export const MOST_LOOKS = 8;

/**
 * Decides for one store when the answer of a server is believed: another server than the last one is first given the
 * rows and layouts that it may lack, a failover is recorded, and only an answer that was read after both is believed.
 *
 * Example: a process has believed server A at failover 1, and server B answers. The process adds its rows and layouts
 * to B, records B at failover 2, and reads again. That answer is believed. A start takes no position before
 * `lostUntilMs`.
 */
export class FailoverGuard {
  /** The server whose answer was believed last; undefined before the first. */
  believed: KnownServer | undefined;
  /** Whether servers may be written to. Until the store is prepared the guard looks only. */
  mayWrite = false;
  /** The server that was given all rows and layouts of this process last. */
  private completed: BelievedServer | undefined;
  /**
   * The loss that this process has recorded since it believed a server last, and the look that has found it: a bar from
   * then on begins late enough, whatever the clock says.
   */
  private recorded: (BelievedServer & { readonly atMs: number }) | undefined;
  /** The revision of the believed server went back since: its memory was restored, which has to be recorded. */
  private wentBack = false;
  private readonly known = new Set<string>();

  /**
   * @param reachMs how far the grants of this store's process reach past a failover, ms; see grantReachMs. 0 where no bar
   * is wanted: then rows are not judged, nor grants from before a loss where the table has no reach either
   * @param losesCommits the lease reckons with a server that crashes and takes rows back: see `commitLossWindowMs`
   */
  constructor(
    readonly reachMs: number,
    private readonly losesCommits = false,
  ) {}

  private get judgesRows(): boolean {
    return this.reachMs > 0 && !this.losesCommits;
  }

  /** Every layout that this process knows to have issued IDs. A server that lacks one is told. */
  get layouts(): ReadonlySet<string> {
    return this.known;
  }

  /** Notes layouts that have issued IDs. A server that was given all layouts before may lack a new one. */
  noteLayouts(layouts: Iterable<string>): void {
    const { size } = this.known;
    for (const layout of layouts) this.known.add(layout);
    if (this.known.size > size) this.completed = undefined;
  }

  /** See {@link judgeServer}. @throws FormerPrimaryError */
  judge(seen: StoreTerm): ServerVerdict {
    const { believed, reachMs } = this;
    this.wentBack ||= believed?.term === seen.term && (seen.revision ?? 0) < (believed.revision ?? 0);
    // Another process may have recorded the server at the same moment, without a loss.
    const isOwnLoss = isSame(this.recorded, seen) && seen.lostAtMs >= this.recorded!.atMs;
    const known = believed && isOwnLoss ? { ...believed, seenAtMs: 0, grantedMs: 0, owedMs: 0 } : believed;
    return judgeServer(seen, reachMs, known, this.wentBack);
  }

  /** Whether the server may lack rows and layouts. */
  mayLackRows(seen: StoreTerm, { isAnother, isNewFailover }: ServerVerdict): boolean {
    return isNewFailover || (isAnother && !isSame(this.completed, seen));
  }

  /** The server has all rows and layouts of this process. */
  noteCompleted(server: BelievedServer): void {
    this.completed = server;
  }

  /**
   * A loss was recorded on the server, by this process or by another one at the same moment.
   * @param atMs the server's clock at the look that has found it, Unix ms
   */
  noteRecorded(server: BelievedServer, atMs: number): void {
    this.recorded = { ...server, atMs };
  }

  /** A row is about to be written: its answer may be lost. */
  noteSent(write: WorkerWrite): void {
    const { believed } = this;
    if (believed === undefined) return;
    this.believed = { ...believed, grantedMs: Math.max(believed.grantedMs ?? 0, grantOf(write)) };
  }

  /** A row was written on the server that is believed. */
  noteWritten(write: WorkerWrite): void {
    this.noteSent(write);
    const { id, expected } = write;
    if (this.believed === undefined || !this.judgesRows) return;
    this.believed = { ...this.believed, written: { id, version: expected.version + 1 } };
  }

  /** Believes the server, unless something has to be written to it first. @returns whether it is believed */
  believe(seen: StoreTerm, verdict: ServerVerdict): boolean {
    if (this.mayWrite && (verdict.mustRecord || this.mayLackRows(seen, verdict))) return false;
    const { term, failoverNumber, revision, nowMs: seenAtMs } = seen;
    const kept = this.believed && keptKnowledge(this.believed, seen, verdict);
    this.believed = { ...kept, term, failoverNumber, seenAtMs, ...(revision !== undefined && { revision }) };
    this.wentBack = false;
    this.recorded = undefined;
    return true;
  }

  /**
   * Looks until the server that answers is believed.
   * @returns the look whose answer is believed; below its `lostUntilMs` no odometer is
   * @throws what the server throws
   */
  async readBelieved<Answer>(server: GuardedServer<Answer>): Promise<Look<Answer>> {
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const answer = await server.read();
      const look = server.judge(answer, looks === 0);
      if (look === undefined) continue;
      const { seen, verdict } = look;
      if (this.believe(seen, verdict)) return look;
      const mayLackRows = this.mayLackRows(seen, verdict);
      const { size } = this.known;
      const completed = await server.completeAndRecord(look, mayLackRows);
      if (verdict.isNewFailover) this.noteRecorded(completed, seen.nowMs);
      // A layout that was noted meanwhile may have come too late for that: the next look completes the server again.
      if (mayLackRows && this.known.size === size) this.noteCompleted(completed);
    }
    throw server.anotherEachTime();
  }
}

function isSame(server: BelievedServer | undefined, { term, failoverNumber }: BelievedServer): boolean {
  return server?.term === term && server.failoverNumber === failoverNumber;
}

/** Up to when a write grants IDs, Unix ms; 0 for one that gives the row back. */
export function grantOf({ token, lane, odometers }: WorkerWrite): number {
  return token === '' ? 0 : odometers[lane].ms;
}

/** What this process goes on to know once it believes the server that answers. */
function keptKnowledge(
  known: KnownServer,
  seen: StoreTerm,
  { barredUntilMs }: ServerVerdict,
): Omit<KnownServer, keyof BelievedServer> {
  const { grantedMs = 0 } = known;
  const owedMs = isSame(known, seen) ? known.owedMs : grantedMs;
  const written = keptRow(known, seen, barredUntilMs);
  return { grantedMs, ...(owedMs && owedMs > barredUntilMs && { owedMs }), ...(written && { written }) };
}

function keptRow(known: KnownServer, seen: StoreTerm, barredUntilMs: number): WrittenRow | undefined {
  const { written } = known;
  if (written === undefined || (known.term !== seen.term && known.term !== '')) return undefined;
  const { id, version } = written;
  const shown = seen.versionOf?.(id);
  // A write whose answer was lost shows in the row.
  if (isSame(known, seen) || barredUntilMs < seen.nowMs) return { id, version: Math.max(version, shown ?? 0) };
  // What is missing since a loss that bars still is no second loss.
  return shown === undefined || shown < 0 ? undefined : { id, version: shown };
}

/** What a table tells of losses and fences: nothing if there was neither. */
export function barOf({
  barredUntilMs,
  servedAlone,
}: Pick<ServerVerdict, 'barredUntilMs' | 'servedAlone'>): Pick<WorkerTable, 'barredUntilMs' | 'servedAlone'> {
  if (barredUntilMs === 0) return {};
  return { barredUntilMs, ...(servedAlone && { servedAlone }) };
}

/**
 * The server was the primary once, and another one has taken its place since: it lacks the writes of its successor, and
 * writes to it may be lost.
 */
export class FormerPrimaryError extends RetryableError {
  static override readonly name = 'FormerPrimaryError';
  readonly errorCode = 'FORMER_PRIMARY';

  constructor() {
    super(
      'The database answered from a former primary, whose rows may be outdated: IDs could repeat. Stop that server, ' +
        'or make it a replica of the current primary. To use it as the primary again, or after restoring a backup, ' +
        'stop all other servers and fence it (docs/operations.md). If the other server was the wrong one, restart ' +
        'this process.',
    );
  }
}

/** Up to when no odometer of a table is believed, Unix ms; 0 when all are. */
export function believedFromMs({
  barredUntilMs = 0,
  lostUntilMs = 0,
}: Pick<WorkerTable, 'barredUntilMs' | 'lostUntilMs'>): number {
  return Math.max(barredUntilMs, lostUntilMs);
}

/** Up to when other layouts may have issued that no row shows, for a start with this one, Unix ms; 0 when none may. */
export function layoutsLostUntilMs(
  table: Pick<WorkerTable, 'barredUntilMs' | 'lostUntilMs' | 'servedAlone'>,
  layout: string,
): number {
  const { servedAlone } = table;
  return servedAlone?.layout === layout ? servedAlone.lostUntilMs : believedFromMs(table);
}

/** The row with both odometers at the end of that moment's tick at least: below it they are not believed. */
export function raiseOdometersTo(untilMs: number, row: WorkerRow): WorkerRow {
  if (untilMs === 0) return row;
  const raised = (odometer: Odometer): Odometer =>
    odometer.ms <= untilMs ? { ms: untilMs, sequence: Number.MAX_SAFE_INTEGER } : odometer;
  return { ...row, odometers: [raised(row.odometers[0]), raised(row.odometers[1])] };
}
