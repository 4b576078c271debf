import { DAY_MS } from '../time/timeline.js';
import { pause } from '../async.js';
import { BEFORE_ALL, type Position } from '../generator/tenure.js';
import type { WorkerRange } from '../layout/layout-options.js';
import { Layout, shapeOfFingerprint } from '../layout/layout.js';
import { PermanentError } from '../raindrop-error.js';
import { believedFromMs, layoutsLostUntilMs } from './failover-guard.js';
import type { LeasePorts } from './lease-context.js';
import { ForeignRowsError, LayoutConflictError } from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';
import { noWaitPolicy, retryStartStep, startPauseMs } from './start-retries.js';
import type { StoreSession } from './store-session.js';
import {
  INCLUDE_HELD,
  isForeign,
  isHeld,
  isOfDatabase,
  type KnownLayouts,
  type SampleRequest,
  type WorkerRow,
  type WorkerStore,
  type WorkerTable,
} from './worker-store.js';

/** The layout of a service whose options name none. */
export interface LayoutChoice {
  readonly layout: Layout;
  /** Whether nothing has been issued with it yet, as far as the store knows. */
  readonly isFirst: boolean;
}

/** Where a layout is looked for. */
interface LayoutSearch {
  readonly session: StoreSession;
  readonly options: ResolvedLeaseOptions;
  readonly ports: Pick<LeasePorts, 'monotonic' | 'randomness' | 'timers'>;
  /** The layout of a store that has served none. */
  readonly first: Layout;
}

/** Prepares the table without a row: how many it needs follows from the layout. */
const NO_WORKERS: WorkerRange = { min: 1, max: 0 };

const NO_ROWS: SampleRequest = { workers: NO_WORKERS, from: 1, atMost: 1, graceMs: 0 };

/** How often a start looks, or begins, anew when another process was faster. */
const LAYOUT_TRIES = 5;

/**
 * Finds the layout of a service whose options name none, see {@link chooseLayout}. It creates tables that are missing.
 * @throws UnclearLayoutError; ForeignRowsError; StoreUnavailableError; what the store throws on a table it cannot use
 */
export async function findLayout({ session, options, ports, first }: LayoutSearch): Promise<LayoutChoice> {
  const policy = noWaitPolicy(ports);
  const found = await retryStartStep(() => session.prepare(NO_WORKERS, () => NO_ROWS), policy);
  const read = <T>(call: (store: WorkerStore) => Promise<T>): Promise<T> =>
    retryStartStep(() => session.run('reading the layouts', call), policy);
  // Nearly always the store remembers one layout, and no row has to be read.
  const only = onlyLayout(found ?? (await read((store) => store.readSample(NO_ROWS))));
  if (only !== undefined) return only;
  for (let tries = 1; ; tries++) {
    const table = await read((store) => store.readTable());
    try {
      return chooseLayout(table, first, options);
    } catch (error) {
      if (!(error instanceof UnclearLayoutError) || !isBeingDecided(table) || tries >= LAYOUT_TRIES) throw error;
    }
    await pause(ports.timers, startPauseMs(ports.randomness), 'foreground');
  }
}

/**
 * Finds the layout and starts with it. Processes of different releases that start together on a store which has served
 * no layout may choose different ones: those that get a LayoutConflictError find the layout anew.
 * @param open closes what it has opened when it throws
 * @throws what `find` and `open` throw
 */
export async function withFoundLayout<T>(
  find: () => Promise<LayoutChoice>,
  open: (choice: LayoutChoice) => Promise<T>,
  ports: LayoutSearch['ports'],
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const choice = await find();
    try {
      return await open(choice);
    } catch (error) {
      if (!choice.isFirst || !(error instanceof LayoutConflictError) || tries >= LAYOUT_TRIES) throw error;
    }
    await pause(ports.timers, startPauseMs(ports.randomness), 'foreground');
  }
}

/** True when a process has taken a row whose layout is not noted: it finds out at this moment whether it may go on. */
function isBeingDecided({ rows, layouts }: WorkerTable): boolean {
  return rows.some(({ token, layout }) => token !== '' && layout !== '' && !layouts.includes(layout));
}

/** The lease options that the choice depends on. */
type ChoiceOptions = Pick<ResolvedLeaseOptions, 'graceMs' | 'adoptForeign'>;

/**
 * Chooses the layout of a service whose options name none: the one that the store remembers; `first` where it has
 * served none. Of several remembered layouts it takes the only one that may still be in use.
 *
 * A layout may still be in use while a process holds a row with it, and as long as a process with it could start on
 * this table. A layout that a later one has left behind for good cannot start any more: its IDs would be smaller.
 * @throws UnclearLayoutError; ForeignRowsError
 */
export function chooseLayout(table: WorkerTable, first: Layout, options: ChoiceOptions): LayoutChoice {
  const layoutsOfRows = [...table.rows, ...table.deleted].map(({ layout }) => layout);
  const remembered = rememberedLayouts({ layouts: table.layouts, layoutsOfRows });
  if (remembered.length === 0) {
    refuseUnknownPast(table, options);
    return { layout: first, isFirst: true };
  }
  const living = remembered.length === 1 ? remembered : remembered.filter((each) => mayBeInUse(each, table, options));
  const choice = choiceOf(living, table.layouts);
  if (choice !== undefined) return choice;
  const listed = living.length > 0 ? living : remembered;
  const reason = reasonFor(living.length, remembered.length);
  throw new UnclearLayoutError(
    reason,
    listed.map((each) => describeLayout(each, table, options.graceMs)),
  );
}

/** The only layout that a store remembers; undefined when there is none, or several, or one that cannot be read. */
export function onlyLayout(known: KnownLayouts): LayoutChoice | undefined {
  return choiceOf(rememberedLayouts(known), known.layouts);
}

/** Every layout that a store remembers, noted or in a row, as fingerprints. */
function rememberedLayouts({ layouts, layoutsOfRows }: KnownLayouts): string[] {
  return [...new Set([...layouts, ...layoutsOfRows])].filter((each) => each !== '').sort();
}

function choiceOf([only, ...others]: readonly string[], noted: readonly string[]): LayoutChoice | undefined {
  const shape = only === undefined || others.length > 0 ? undefined : shapeOfFingerprint(only);
  return shape && { layout: new Layout(shape), isFirst: !noted.includes(only!) };
}

function reasonFor(living: number, remembered: number): string {
  if (living === 1) return 'the worker ids were used with a layout that this release cannot read';
  if (living > 1) return `the worker ids were used with ${living} layouts that may still be in use`;
  return `the worker ids were used with ${remembered} layouts, and none was clearly the last`;
}

/** Refuses a table whose IDs may have an unknown layout: the first layout, taken by default, could repeat them. */
function refuseUnknownPast(table: WorkerTable, { adoptForeign }: ChoiceOptions): void {
  const { rows, deleted } = table;
  if (believedFromMs(table) > 0) {
    throw new UnclearLayoutError('the store of the worker ids may have forgotten earlier layouts');
  }
  const foreign = rows.filter(isForeign).map(({ id }) => id);
  if (foreign.length > 0 && !adoptForeign) throw new ForeignRowsError(foreign.sort((a, b) => a - b));
  if (adoptForeign || [...rows, ...deleted].some(isForeign)) {
    throw new UnclearLayoutError('another program with an unknown layout has used the worker ids');
  }
}

function mayBeInUse(fingerprint: string, table: WorkerTable, { graceMs }: ChoiceOptions): boolean {
  const shape = shapeOfFingerprint(fingerprint);
  if (shape === undefined || holdersOf(fingerprint, table, graceMs).length > 0) return true;
  try {
    // Rows count as if no process held them: the answer is to be the same once the present holders have stopped.
    judgeLayouts(table, new Layout(shape), INCLUDE_HELD);
    return true;
  } catch (error) {
    if (error instanceof LayoutConflictError) return error.retryable;
    throw error;
  }
}

function holdersOf(fingerprint: string, { rows, deleted, nowMs }: WorkerTable, graceMs: number): number[] {
  const holders = [...rows, ...deleted].filter((row) => row.layout === fingerprint && isHeld(row, nowMs, graceMs));
  return holders.map(({ id }) => id).sort((a, b) => a - b);
}

function describeLayout(fingerprint: string, table: WorkerTable, graceMs: number): RememberedLayout {
  const shape = shapeOfFingerprint(fingerprint);
  const used = [...table.rows, ...table.deleted].filter(({ layout }) => layout === fingerprint);
  const last = Math.max(...used.map(({ heartbeatMs }) => heartbeatMs));
  return {
    fingerprint,
    description: shape && describeBits(new Layout(shape)),
    workerIds: holdersOf(fingerprint, table, graceMs),
    lastUsed: used.length > 0 && Math.abs(last) <= 8.64e15 ? new Date(last) : undefined,
  };
}

function describeBits({ fields, unitMs, epochMs, endBitsValue }: Layout): string {
  const bits = fields.map((field) => `${field.bits} ${field.name}`).join(', ');
  const end = fields.some(({ role }) => role === 'fixed') ? `, end value ${endBitsValue}` : '';
  return `ticks of ${unitMs} ms from ${new Date(epochMs).toISOString()}, bits ${bits}${end}`;
}

/**
 * Judges every layout that the table has ever seen against ours.
 *
 * - A layout whose fixed end bits differ from ours is harmless: no ID of it can equal one of ours.
 * - A layout with which a process holds a row is a conflict.
 * - After a layout of the past there is a one-way cut-over: every ID of ours must be larger than any that it can have
 *   issued. The odometers of the rows say how far that is. A failover, or a restore before a fence, may have lost its
 *   last grants, even its row: then it can have issued up to `layoutsLostUntilMs`, unless our layout was granted IDs past
 *   that since.
 *
 * @returns the position up to which nothing may be issued because of a cut-over
 * @throws LayoutConflictError naming layouts and rows
 */
export function judgeLayouts(table: WorkerTable, layout: Layout, graceMs: number): Position {
  const nowTick = layout.timeline.tickAt(table.nowMs);
  const rows = [...table.rows, ...table.deleted];
  let othersEnd = BEFORE_ALL;
  let clearsAtMs: number | undefined = table.nowMs;
  const conflicts: { layout: string; workerIds: number[] }[] = [];
  const lostUntilMs = layoutsLostUntilMs(table, layout.fingerprint);
  const unknownUntilMs = rows.some((row) => isGrantedPast(lostUntilMs, row, layout, table.nowMs)) ? 0 : lostUntilMs;
  for (const fingerprint of layoutsOf(rows, table.layouts)) {
    if (isHarmless(fingerprint, layout)) continue;
    const workerIds = rows
      .filter((row) => row.layout === fingerprint && isHeld(row, table.nowMs, graceMs))
      .map((row) => row.id);
    const lastTick = workerIds.length > 0 ? undefined : lastTickTouched(fingerprint, layout, rows, unknownUntilMs);
    if (lastTick === undefined || lastTick >= nowTick) {
      conflicts.push({ layout: fingerprint, workerIds });
      clearsAtMs = laterOf(clearsAtMs, lastTick === undefined ? undefined : layout.timeline.startOf(lastTick + 1));
    } else if (lastTick > othersEnd.tick) othersEnd = { tick: lastTick, sequence: layout.maxSequence };
  }
  if (conflicts.length === 0) return othersEnd;
  // A start waits only for conflicts that end within a day.
  const isSoon = clearsAtMs !== undefined && clearsAtMs - table.nowMs <= DAY_MS;
  throw new LayoutConflictError(layout.fingerprint, conflicts, isSoon ? clearsAtMs : undefined);
}

/**
 * True when none of these layouts can repeat an ID of ours, held or not: {@link judgeLayouts} would find neither a
 * conflict nor an end of their IDs, and the rows need not be read.
 */
export function areHarmless(known: KnownLayouts, layout: Layout): boolean {
  return [...known.layouts, ...known.layoutsOfRows].every((fingerprint) => isHarmless(fingerprint, layout));
}

/** Refuses every other layout, harmless or not. @throws LayoutConflictError */
export function refuseOtherLayouts(known: KnownLayouts, { fingerprint }: Layout): void {
  const others = new Set([...known.layouts, ...known.layoutsOfRows].filter((each) => each !== fingerprint));
  if (others.size === 0) return;
  throw new LayoutConflictError(
    fingerprint,
    [...others].map((layout) => ({ layout, workerIds: [] })),
  );
}

function laterOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.max(a, b);
}

function layoutsOf(rows: readonly WorkerRow[], layouts: readonly string[]): string[] {
  const all = new Set([...layouts, ...rows.map((row) => row.layout)]);
  all.delete('');
  return [...all].sort();
}

function isHarmless(fingerprint: string, layout: Layout): boolean {
  if (fingerprint === layout.fingerprint) return true;
  const shape = shapeOfFingerprint(fingerprint);
  return shape !== undefined && layout.disjointFrom(new Layout(shape));
}

/**
 * Whether the row shows that a process with our layout was granted IDs past `lostUntilMs`. Every grant from before the loss
 * ends by then, so this one was written after the loss. Then the table says rightly how far the conflicting
 * layouts have issued, for one of two reasons. The process held its row all the time: no process with a conflicting
 * layout could start, and lose anything. Or it has started since: its own start was judged up to that moment.
 *
 * A row of ours that was merely written after it shows nothing: a process that slept through the failover gives
 * its row back when it wakes up. Neither does a fence, nor a write from a time when the store's clock was wrong. Nor does a
 * row that another program has taken since: that wrote its heartbeat.
 */
function isGrantedPast(lostUntilMs: number, row: WorkerRow, layout: Layout, nowMs: number): boolean {
  const { ms, sequence } = row.odometers[row.lane];
  if (row.layout !== layout.fingerprint || row.heartbeatMs > nowMs || isForeign(row)) return false;
  return ms > lostUntilMs && sequence < Number.MAX_SAFE_INTEGER;
}

/**
 * The last tick of `layout` that holds an ID which the other layout can have issued; undefined when that cannot be
 * told.
 *
 * On a row that any other layout has now, the other one issued at most up to the higher odometer. A row that has our
 * layout was judged when it was acquired, and both its lanes began past `lostUntilMs` of that moment: the other layout
 * issued there at most up to the lower odometer. The higher one must not count: it is our own present, and no second
 * process of ours could ever join the first. A row of the database has no end for its own layout; of others it tells by the
 * lower odometer.
 */
function lastTickTouched(
  fingerprint: string,
  layout: Layout,
  rows: readonly WorkerRow[],
  unknownUntilMs: number,
): number | undefined {
  const shape = shapeOfFingerprint(fingerprint);
  if (shape === undefined) return undefined;
  const other = new Layout(shape);
  const tickOf = (ms: number): number => Number(other.idCeil(ms) >> BigInt(layout.lowBits));
  // A row that was never used tells of no layout, also where a fence has raised it.
  const used = rows.filter(({ code, layout: last }) => code !== '' || last !== '');
  const ticks = used.map((row) => {
    const {
      layout: last,
      odometers: [a, b],
    } = row;
    if (last === layout.fingerprint) return layout.timeline.tickAt(Math.min(a.ms, b.ms));
    return tickOf(isOfDatabase(row) && last !== fingerprint ? Math.min(a.ms, b.ms) : Math.max(a.ms, b.ms));
  });
  if (unknownUntilMs > 0) ticks.push(tickOf(unknownUntilMs));
  return Math.max(BEFORE_ALL.tick, ...ticks);
}

/** A layout that a store of worker ids remembers. */
export interface RememberedLayout {
  readonly fingerprint: string;
  /** Its ticks and bits in words; undefined when the fingerprint cannot be read. */
  readonly description: string | undefined;
  /** The worker ids that are held with it now. */
  readonly workerIds: readonly number[];
  /** The last write of a row that has it; undefined when other layouts have all rows by now. */
  readonly lastUsed: Date | undefined;
}

/** The options name no layout, and the store of the worker ids does not tell which one the service has. */
export class UnclearLayoutError extends PermanentError {
  static override readonly name = 'UnclearLayoutError';
  readonly errorCode = 'UNCLEAR_LAYOUT';

  /**
   * @param reason a sentence without its end
   * @param layouts the candidates
   */
  constructor(
    readonly reason: string,
    readonly layouts: readonly RememberedLayout[] = [],
  ) {
    const list = layouts.map((each) => `\n  - ${describe(each)}`).join('');
    super(
      `The options name no layout, and ${reason}${list === '' ? '' : `:${list}\n`}${list === '' ? '. ' : ''}Set the ` +
        `options of this service's layout: startTimeStamp, timeUnit, timeStampLength, workIdLength, endBitsLength ` +
        `and endBitsValue, or layout.`,
    );
  }
}

function describe({ fingerprint, description, workerIds, lastUsed }: RememberedLayout): string {
  const use =
    workerIds.length > 0
      ? `in use by workers ${workerIds.slice(0, 8).join(', ')}${workerIds.length > 8 ? ', ...' : ''}`
      : lastUsed === undefined
        ? 'no row shows when it was last used'
        : `last used at ${lastUsed.toISOString()}`;
  return `${fingerprint}: ${description ?? 'a layout that this release cannot read'}; ${use}`;
}
