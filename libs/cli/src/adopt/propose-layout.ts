import { planLayout, type Layout, type LayoutOptions, type LayoutPlan } from '@raindrop/core';
import { layoutOfAnyLife } from '../options/layout-of-any-life.js';

/** A layout whose IDs are all larger than the old keys. */
export interface Proposal {
  readonly options: LayoutOptions;
  readonly plan: LayoutPlan;
  /** No ID that is issued from now on is smaller, whichever clock of a service it has. */
  readonly floor: bigint;
}

type Shape = Pick<LayoutOptions, 'timeUnit' | 'timeStampLength' | 'workIdLength' | 'endBitsLength'>;

/** The first that will do: exact JavaScript numbers for decades, then a high rate, then the highest. */
const SHAPES: readonly Shape[] = [
  { timeUnit: 'second', timeStampLength: 40, workIdLength: 8, endBitsLength: 1 },
  { timeUnit: 'second', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
  { timeUnit: 'millisecond', timeStampLength: 41, workIdLength: 10, endBitsLength: 1 },
];

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

/** A layout that ends sooner is not worth a migration. */
const LEAST_LIFE_MS = 20 * YEAR_MS;

/** By how much the clock of a service may be behind the one that counts here: twice `maxClockSkewMs`. */
const SKEW_MS = 60_000;

/** So much earlier than needed is the epoch, so that no clock's IDs reach down to the old keys. */
const MARGIN_MS = 3_600_000;

/** Earlier dates have no ISO form of four digits. */
const EARLIEST_MS = Date.parse('0001-01-01');

/**
 * The layout for a table whose largest key is `highest`; undefined when none lasts 20 years: IDs have 63 bits, and what
 * the old keys have used up of them is lost as time.
 *
 * The epoch is the latest midnight from which the present's IDs are larger than the old keys, with an hour to spare:
 * the older the epoch, the larger the IDs.
 * @param wish options that are to be as they are given
 * @throws ConfigurationError when the wishes are no layout
 */
export function proposeLayout(highest: bigint, wish: Partial<LayoutOptions>, nowMs: number): Proposal | undefined {
  const asked = SHAPES.filter((shape) => isShape(shape, wish));
  const found = (asked.length > 0 ? asked : [{}]).flatMap((shape) => {
    const options = withEpoch({ ...shape, ...wish } as LayoutOptions, highest, nowMs);
    return options === undefined ? [] : [propose(options, nowMs)];
  });
  const lasting = found
    .filter(({ layout, floor }) => floor > highest && lastsFrom(layout.expiresAt, nowMs))
    .map(({ options, ...each }) => ({
      ...{ ...each, options: withoutNeeds(options) },
      plan: planLayout({ ...options, minLifetimeDays: 0 }, nowMs),
    }));
  const fitting = lasting.filter(
    ({ plan }) => !plan.warnings.some(({ code }) => code === 'CAPACITY' || code === 'FEW_WORKERS'),
  );
  const candidates = fitting.length > 0 ? fitting : lasting;
  // Where exact numbers cannot be had, nothing speaks for few sequence bits.
  const exact = candidates.find(({ layout }) => lastsFrom(layout.safeUntil, nowMs));
  return exact ?? [...candidates].sort((a, b) => b.layout.lowBits - a.layout.lowBits)[0];
}

/** Whether a shape has what is wished of it. */
function isShape(shape: Shape, wish: Partial<LayoutOptions>): boolean {
  const names = ['timeUnit', 'timeStampLength', 'workIdLength'] as const;
  return names.every((name) => wish[name] === undefined || wish[name] === shape[name]);
}

function withEpoch(options: LayoutOptions, highest: bigint, nowMs: number): LayoutOptions | undefined {
  if (options.startTimeStamp !== undefined) return options;
  // Refuses what is wrong with the wishes, before anything is reckoned with them.
  const { unitMs, lowBits } = layoutOfAnyLife({ ...options, startTimeStamp: midnightOf(nowMs) }, nowMs);
  const used = highest > 0n ? Number(highest >> BigInt(lowBits)) + 1 : 1;
  const epochMs = nowMs - used * unitMs - MARGIN_MS;
  if (!(epochMs >= EARLIEST_MS)) return undefined;
  return { ...options, startTimeStamp: new Date(midnightOf(epochMs)).toISOString().slice(0, 10) };
}

function propose(options: LayoutOptions, nowMs: number): Omit<Proposal, 'plan'> & { readonly layout: Layout } {
  const layout = layoutOfAnyLife(options, nowMs);
  return { options, layout, floor: layout.idFloor(Math.max(nowMs - SKEW_MS, layout.epochMs)) };
}

/** What was asked of the layout is no part of it. */
function withoutNeeds(options: LayoutOptions): LayoutOptions {
  const kept = { ...options };
  delete kept.expectedNodes;
  delete kept.expectedIdsPerSecond;
  return kept;
}

function lastsFrom(end: Date | null, nowMs: number): boolean {
  return end === null || end.getTime() - nowMs >= LEAST_LIFE_MS;
}

function midnightOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}
