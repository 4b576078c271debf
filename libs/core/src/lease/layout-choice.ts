import { shapeOfFingerprint } from '../layout/fingerprint.js';
import { Layout } from '../layout/layout.js';
import { ForeignRowsError } from './foreign-errors.js';
import { judgeLayouts } from './layout-conflicts.js';
import { LayoutConflictError } from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';
import { isHeld } from './liveness.js';
import { isForeign } from './worker-rows.js';
import { UnclearLayoutError, type RememberedLayout } from './unclear-layout-error.js';
import { HELD_TOO, type KnownLayouts, type WorkerTable } from './worker-store.js';

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
  const remembered = rememberedIn({ layouts: table.layouts, layoutsOfRows });
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
  return choiceOf(rememberedIn(known), known.layouts);
}

/** Every layout that a store remembers, noted or in a row. */
function rememberedIn({ layouts, layoutsOfRows }: KnownLayouts): string[] {
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
    judgeLayouts(table, new Layout(shape), HELD_TOO);
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
    description: shape && inWords(new Layout(shape)),
    workerIds: holdersOf(fingerprint, table, graceMs),
    lastUsed: used.length > 0 && Math.abs(last) <= 8.64e15 ? new Date(last) : undefined,
  };
}

function inWords({ fields, unitMs, epochMs, endBitsValue }: Layout): string {
  const bits = fields.map((field) => `${field.bits} ${field.name}`).join(', ');
  const end = fields.some(({ role }) => role === 'fixed') ? `, end value ${endBitsValue}` : '';
  return `ticks of ${unitMs} ms from ${new Date(epochMs).toISOString()}, bits ${bits}${end}`;
}
