import { RetryableError } from '../raindrop-error.js';
import type { Odometer, ServedAlone, WorkerRow, WorkerTable } from './worker-store.js';

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
}

/** How this process treats the server that answers. */
export interface ServerVerdict {
  /** It is not the server that was believed last: it may lack rows, layouts and grants that this process knows of. */
  readonly isAnother: boolean;
  /** A failover that no process has recorded yet: grants may be lost. */
  readonly isNewFailover: boolean;
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
 * Judges the server that answers by what it says of itself and by the one that this process believed last.
 *
 * Example: server A is the primary at failover 1, server B is recorded at failover 2. A process that has believed B
 * refuses A as long as A says 1. When A is rebuilt from B and promoted again, it says that B's term is the known one: A
 * is recorded at failover 3. The stores of Redis judge alike, in a script: test/support/stores/failover-cases.ts has the
 * cases of both.
 * @param wasRestored the server's memory went back in time, although it has the same term and possibly the same
 * failover number
 * @throws FormerPrimaryError
 */
export function judgeServer(
  seen: StoreTerm,
  ownReachMs: number,
  believed: BelievedServer | undefined,
  wasRestored = false,
): ServerVerdict {
  const { nowMs, term, knownTerm, failoverNumber, lostAtMs } = seen;
  const isRecorded = knownTerm === term;
  const isEarlier = failoverNumber < (believed?.failoverNumber ?? 0);
  if (isRecorded && isEarlier && believed!.term !== term && believed!.term !== '') throw new FormerPrimaryError();
  const isAnother = believed !== undefined && (believed.term !== term || believed.failoverNumber !== failoverNumber);
  // Where the failover number is a later one, another process has recorded the restore.
  const isRestored = isEarlier || (wasRestored && failoverNumber === (believed?.failoverNumber ?? 0));
  const isNewFailover = isRestored || isUnrecordedFailover(seen, believed);
  const least = isNewFailover ? Math.max(failoverNumber, believed?.failoverNumber ?? 0) + 1 : failoverNumber;
  const reachMs = Math.max(seen.reachMs, ownReachMs);
  // A loss that was recorded in the future, while clocks were ahead, stays: IDs of that time may exist.
  const lostMs = isNewFailover ? Math.max(nowMs, lostAtMs) : lostAtMs;
  const lostUntilMs = lostMs === 0 ? 0 : lostMs + reachMs;
  const hasTerms = term !== '' || (knownTerm ?? '') !== '';
  return {
    isAnother: isAnother || isNewFailover,
    isNewFailover,
    mustRecord: isNewFailover || (hasTerms && (!isRecorded || seen.reachMs < ownReachMs)),
    failoverNumber: isNewFailover || knownTerm === undefined ? Math.max(least, nowMs) : failoverNumber,
    lostUntilMs,
    barredUntilMs: Math.max(lostUntilMs, seen.fencedUntilMs ?? 0),
    ...(seen.servedAlone && { servedAlone: aloneAfterLoss(seen.servedAlone, lostUntilMs) }),
  };
}

/** What an operator has stated, after a loss of commits up to `untilMs`. */
export function aloneAfterLoss({ layout, lostUntilMs }: ServedAlone, untilMs: number): ServedAlone {
  return { layout, lostUntilMs: Math.max(lostUntilMs, untilMs) };
}

function isUnrecordedFailover(seen: StoreTerm, believed: BelievedServer | undefined): boolean {
  const { term, knownTerm, failoverNumber, lostAtMs } = seen;
  // The server has forgotten its record, unless there never was one: then this is the first.
  if (knownTerm === undefined) return believed !== undefined && (believed.term !== term || believed.failoverNumber > 0);
  if (knownTerm !== term) return knownTerm !== '';
  if (believed === undefined || believed.term === term || believed.term === '') return false;
  // Two servers were recorded side by side, and each lacks the other's writes; or this one was taken for the first.
  return believed.failoverNumber === failoverNumber || lostAtMs === 0;
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
  believed: BelievedServer | undefined;
  /** Whether servers may be written to. Until the store is prepared the guard looks only. */
  mayWrite = false;
  /** The server that was given all rows and layouts of this process last. */
  private completed: BelievedServer | undefined;
  /** The revision of the believed server went back since: its memory was restored, which has to be recorded. */
  private wentBack = false;
  private readonly known = new Set<string>();

  /** @param reachMs how far the grants of this store's process reach past a failover, ms; see grantReachMs */
  constructor(readonly reachMs: number) {}

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
    return judgeServer(seen, reachMs, believed, this.wentBack);
  }

  /** Whether the server may lack rows and layouts. */
  mayLackRows({ term, failoverNumber }: StoreTerm, { isAnother, isNewFailover }: ServerVerdict): boolean {
    const isComplete = this.completed?.term === term && this.completed.failoverNumber === failoverNumber;
    return isNewFailover || (isAnother && !isComplete);
  }

  /** The server has all rows and layouts of this process. */
  noteCompleted(server: BelievedServer): void {
    this.completed = server;
  }

  /** Believes the server, unless something has to be written to it first. @returns whether it is believed */
  believe(seen: StoreTerm, verdict: ServerVerdict): boolean {
    if (this.mayWrite && (verdict.mustRecord || this.mayLackRows(seen, verdict))) return false;
    const { term, failoverNumber, revision } = seen;
    this.believed = { term, failoverNumber, ...(revision !== undefined && { revision }) };
    this.wentBack = false;
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
      // A layout that was noted meanwhile may have come too late for that: the next look completes the server again.
      if (mayLackRows && this.known.size === size) this.noteCompleted(completed);
    }
    throw server.anotherEachTime();
  }
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
