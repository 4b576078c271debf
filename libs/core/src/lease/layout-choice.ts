import { Layout, shapeOfFingerprint } from '../layout/layout.js';
import { BEFORE_ALL, type Position } from '../generator/tenure.js';
import { RaindropError } from '../raindrop-error.js';
import { ForeignRowsError, LayoutConflictError } from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';
import { isForeign, isHeld } from './lease-row.js';
import { INCLUDE_HELD, type KnownLayouts, type WorkerRow, type WorkerTable } from './worker-store.js';

/** The layout of a service whose options name none. */
export interface LayoutChoice {
  readonly layout: Layout;
  /** Whether nothing has been issued with it yet, as far as the store knows. */
  readonly isFirst: boolean;
}

/** Of the lease options, what the choice depends on. */
type ChoiceOptions = Pick<ResolvedLeaseOptions, 'graceMs' | 'adoptForeign'>;

/**
 * Chooses the layout of a service whose options name none: the one that the store remembers; `first` where it has served
 * none. Of several that it remembers it takes the only one that may still be in use.
 *
 * A layout may still be in use while somebody holds it, and as long as the table lets processes in that have it. One that
 * a later layout has left behind for good is none: its IDs would be smaller.
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

/** Every layout that a store remembers, noted or in a row. */
function rememberedLayouts({ layouts, layoutsOfRows }: KnownLayouts): string[] {
  return [...new Set([...layouts, ...layoutsOfRows])].filter((each) => each !== '').sort();
}

function choiceOf([only, ...others]: readonly string[], noted: readonly string[]): LayoutChoice | undefined {
  const shape = only === undefined || others.length > 0 ? undefined : shapeOfFingerprint(only);
  return shape && { layout: new Layout(shape), isFirst: !noted.includes(only!) };
}

function reasonFor(living: number, remembered: number): string {
  if (living === 1) return 'its worker ids have served a layout that is not understood';
  if (living > 1) return `its worker ids have served ${living} layouts that may still be in use`;
  return `its worker ids have served ${remembered} layouts, and each has issued above the others`;
}

/** IDs may have been issued with a layout that nobody remembers: another one, by default, could repeat them. */
function refuseUnknownPast({ rows, deleted, mayLackLayouts }: WorkerTable, { adoptForeign }: ChoiceOptions): void {
  if (mayLackLayouts === true) {
    throw new UnclearLayoutError('the store of its worker ids may have forgotten with which ones IDs were issued');
  }
  const foreign = rows.filter(isForeign).map(({ id }) => id);
  if (foreign.length > 0 && !adoptForeign) throw new ForeignRowsError(foreign.sort((a, b) => a - b));
  if (adoptForeign || [...rows, ...deleted].some(isForeign)) {
    throw new UnclearLayoutError('another program, whose layout is not known here, has issued IDs with its worker ids');
  }
}

function mayBeInUse(fingerprint: string, table: WorkerTable, { graceMs }: ChoiceOptions): boolean {
  const shape = shapeOfFingerprint(fingerprint);
  if (shape === undefined || holdersOf(fingerprint, table, graceMs).length > 0) return true;
  try {
    // Who holds a row now stops one day, and does not count: the answer is to be the same on that day.
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

/** What clears up later than this is no reason to wait. */
const DAY_MS = 86_400_000;

/**
 * Judges every layout that the table has ever seen against ours.
 *
 * A layout whose fixed end bits differ is no concern. One that is alive on a row is in the way. One of the past leaves a
 * one-way cut-over: every ID of ours must be larger than any it can have issued. Where a failover may have lost its last
 * grants, with or without its row, that is up to the floor, unless our layout has been granted more since.
 *
 * @returns the position up to which nothing may be issued because of such a cut-over
 * @throws LayoutConflictError naming layouts and rows
 */
export function judgeLayouts(table: WorkerTable, layout: Layout, graceMs: number): Position {
  const nowTick = layout.timeline.tickAt(table.nowMs);
  const rows = [...table.rows, ...table.deleted];
  let floor = BEFORE_ALL;
  let clearsAtMs: number | undefined = table.nowMs;
  const conflicts: { layout: string; workerIds: number[] }[] = [];
  const { barredUntilMs = 0, floorMs = barredUntilMs } = table;
  const unknownUntilMs = rows.some((row) => isGrantedPast(floorMs, row, layout, table.nowMs)) ? 0 : floorMs;
  for (const fingerprint of layoutsOf(rows, table.layouts)) {
    if (isHarmless(fingerprint, layout)) continue;
    const workerIds = rows
      .filter((row) => row.layout === fingerprint && isHeld(row, table.nowMs, graceMs))
      .map((row) => row.id);
    const lastTick = workerIds.length > 0 ? undefined : lastTickTouched(fingerprint, layout, rows, unknownUntilMs);
    if (lastTick === undefined || lastTick >= nowTick) {
      conflicts.push({ layout: fingerprint, workerIds });
      clearsAtMs = laterOf(clearsAtMs, lastTick === undefined ? undefined : layout.timeline.startOf(lastTick + 1));
    } else if (lastTick > floor.tick) floor = { tick: lastTick, sequence: layout.maxSequence };
  }
  if (conflicts.length === 0) return floor;
  const isSoon = clearsAtMs !== undefined && clearsAtMs - table.nowMs <= DAY_MS;
  throw new LayoutConflictError(layout.fingerprint, conflicts, isSoon ? clearsAtMs : undefined);
}

/**
 * True when none of these layouts can repeat an ID of ours, alive or not: rows need not be looked at then, and
 * {@link judgeLayouts} would find neither a conflict nor a floor.
 */
export function areHarmless(known: KnownLayouts, layout: Layout): boolean {
  return [...known.layouts, ...known.layoutsOfRows].every((fingerprint) => isHarmless(fingerprint, layout));
}

/** @throws LayoutConflictError when there is any other layout, harmless or not */
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
 * Whether the row shows that a process with our layout was granted IDs of later than `floorMs`. All grants from before the
 * loss end there, so this one was written after it. Then the table tells rightly what the layouts in our way have issued:
 * that process held its row all the time, so that none of theirs could start and lose anything; or it has started since,
 * and was itself judged up to the floor.
 *
 * That a row of ours was written after the floor is not enough: a process that slept through everything gives its row back
 * when it wakes up. A fence is no grant either, nor is what was written while the store's clock was wrong.
 */
function isGrantedPast(floorMs: number, row: WorkerRow, layout: Layout, nowMs: number): boolean {
  const { ms, sequence } = row.odometers[row.lane];
  if (row.layout !== layout.fingerprint || row.heartbeatMs > nowMs) return false;
  return ms > floorMs && sequence < Number.MAX_SAFE_INTEGER;
}

/**
 * The last tick of `layout` that holds an ID which the other layout can have issued; undefined when nobody can tell.
 *
 * A row of any other layout bounds what the other one issued there by its higher odometer. A row of ours was acquired
 * after the judgement that looked at it, and both its lanes began past the floor of then: the lower one bounds it. Its
 * higher one must not: that is our own present, and no second process could ever join the first.
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
  const ticks = rows.map(({ layout: last, odometers: [a, b] }) =>
    last === layout.fingerprint ? layout.timeline.tickAt(Math.min(a.ms, b.ms)) : tickOf(Math.max(a.ms, b.ms)),
  );
  if (unknownUntilMs > 0) ticks.push(tickOf(unknownUntilMs));
  return Math.max(...ticks);
}

/** A layout that a store of worker ids remembers. */
export interface RememberedLayout {
  readonly fingerprint: string;
  /** What it is, in words; undefined when the fingerprint is none. */
  readonly description: string | undefined;
  /** The worker ids that hold it now. */
  readonly workerIds: readonly number[];
  /** The last write of a row that has it; undefined when other layouts have all rows by now. */
  readonly lastUsed: Date | undefined;
}

/** The options name no layout, and the store of the worker ids does not tell which it has to be. */
export class UnclearLayoutError extends RaindropError {
  readonly errorCode = 'UNCLEAR_LAYOUT';

  /**
   * @param reason a sentence without its end
   * @param layouts those that may be meant
   */
  constructor(
    readonly reason: string,
    readonly layouts: readonly RememberedLayout[] = [],
  ) {
    const list = layouts.map((each) => `\n  - ${describe(each)}`).join('');
    super(
      `The options name no layout, and ${reason}${list === '' ? '' : `:${list}\n`}${list === '' ? '. ' : ''}Set the options of the ` +
        `layout that the IDs of this service have: startTimeStamp, timeUnit, timeStampLength, workIdLength, endBitsLength and ` +
        `endBitsValue, or layout.`,
      { retryable: false },
    );
  }
}

function describe({ fingerprint, description, workerIds, lastUsed }: RememberedLayout): string {
  const use =
    workerIds.length > 0
      ? `workers ${workerIds.slice(0, 8).join(', ')}${workerIds.length > 8 ? ', ...' : ''} have it now`
      : lastUsed === undefined
        ? 'no row shows when it was last used'
        : `last used at ${lastUsed.toISOString()}`;
  return `${fingerprint}: ${description ?? 'no layout that this release can read'}; ${use}`;
}
