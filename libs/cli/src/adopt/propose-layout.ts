import { planLayout, type Layout, type LayoutOptions, type LayoutPlan, type ReadyLayoutOptions } from '@raindrop/core';
import { DAY_MS, DEFAULT_LAYOUT } from '@raindrop/core/internal';
import { showNumber } from '../io/text.js';
import { layoutOfAnyLife } from '../options/module-options.js';

/** The options of a layout: its bits, or `layout: 'number'`. */
export type ProposedOptions = LayoutOptions | (Omit<ReadyLayoutOptions, 'layout'> & { readonly layout: 'number' });

/** A layout whose IDs are all larger than the old keys. */
export interface Proposal {
  readonly options: ProposedOptions;
  readonly plan: LayoutPlan;
  /** All IDs that are issued from now on are at least this, also on a host whose clock is up to 60 s behind. */
  readonly floor: bigint;
}

/** A proposal that is not judged yet. */
type Draft = Omit<Proposal, 'plan'> & { readonly layout: Layout };

const BITS = ['timeUnit', 'timeStampLength', 'workIdLength', 'endBitsLength'] as const;

type Bits = Partial<Pick<LayoutOptions, (typeof BITS)[number]>>;

/** The options of a layout without its epoch, and the bits for which they stand. */
interface Shape {
  readonly options: Partial<ProposedOptions>;
  readonly bits: Bits;
}

const DEFAULT_BITS = { timeStampLength: 33, workIdLength: 10, endBitsLength: 1 } as const;
const MILLISECOND_BITS = { timeUnit: 'millisecond', timeStampLength: 41, workIdLength: 10, endBitsLength: 1 } as const;

/** The shapes in the order of preference: exact JavaScript numbers for decades, then the high rate of the default. */
const SHAPES: readonly Shape[] = [
  {
    options: { layout: 'number' },
    bits: { timeUnit: 'second', timeStampLength: 40, workIdLength: 8, endBitsLength: 1 },
  },
  { options: DEFAULT_BITS, bits: { timeUnit: 'second', ...DEFAULT_BITS } },
];

/** The shape where those do not last: of all shapes, its IDs start at the largest values. */
const LAST_SHAPE: Shape = { options: MILLISECOND_BITS, bits: MILLISECOND_BITS };

const YEAR_MS = 365 * DAY_MS;

/** A layout must last for this time, ms: one that ends sooner is not worth a migration. */
const LEAST_LIFE_MS = 20 * YEAR_MS;

/** The clock of a service may be this far behind the clock of this host, ms: twice `maxClockSkewMs`. */
const SKEW_MS = 60_000;

/** The epoch is this much earlier than needed, ms, so that no clock's IDs are as small as an old key. */
const MARGIN_MS = 3_600_000;

/** Earlier dates have no ISO form of four digits. */
const EARLIEST_MS = Date.parse('0001-01-01');

/**
 * Proposes the layout for a table whose largest key is `highest`. Undefined when no layout lasts 20 years: IDs have 63
 * bits, and the part below the old keys is lost as time.
 *
 * The epoch is that of the default, when its present IDs are larger than the old keys. Else it is the latest midnight
 * that makes them so, with an hour to spare: the older the epoch, the larger the IDs.
 * @param wish options that the layout must have
 * @throws ConfigurationError when no layout can have them
 */
export function proposeLayout(highest: bigint, wish: Partial<LayoutOptions>, nowMs: number): Proposal | undefined {
  const drafts = (shapes: readonly Shape[]): Draft[] => shapes.flatMap((shape) => draft(shape, wish, highest, nowMs));
  const asked = [...SHAPES, LAST_SHAPE].filter((shape) => isShape(shape, wish));
  if (asked.length === 0) return best(drafts([{ options: {}, bits: {} }]), nowMs);
  const lasting = drafts(asked.filter((shape) => shape !== LAST_SHAPE));
  return best(lasting.length > 0 ? lasting : drafts(asked), nowMs);
}

/** The first draft that meets the needs; when none does, the one with the highest rate. */
function best(drafts: readonly Draft[], nowMs: number): Proposal | undefined {
  const planned = drafts.map(({ options, floor, layout }) => ({
    lowBits: layout.lowBits,
    proposal: { options: withoutNeeds(options), floor, plan: planLayout({ ...options, minLifetimeDays: 0 }, nowMs) },
  }));
  const isFitting = ({ warnings }: LayoutPlan): boolean =>
    !warnings.some(({ code }) => code === 'CAPACITY' || code === 'FEW_WORKERS');
  const fitting = planned.find(({ proposal }) => isFitting(proposal.plan));
  return (fitting ?? [...planned].sort((a, b) => b.lowBits - a.lowBits)[0])?.proposal;
}

/** Whether a shape has the wished bits. */
function isShape({ bits }: Shape, wish: Partial<LayoutOptions>): boolean {
  return BITS.every((name) => wish[name] === undefined || wish[name] === bits[name]);
}

/** The shape with the first epoch whose IDs are larger than the old keys and which lasts; none when no epoch is. */
function draft(shape: Shape, wish: Partial<LayoutOptions>, highest: bigint, nowMs: number): Draft[] {
  const isNumber = 'layout' in shape.options;
  const wishes = isNumber ? Object.fromEntries(Object.entries(wish).filter(([name]) => !isBit(name))) : wish;
  const { startTimeStamp, ...more } = { ...shape.options, ...wishes } as LayoutOptions;
  const at = (epoch: LayoutOptions['startTimeStamp']): ProposedOptions => ({ startTimeStamp: epoch, ...more });
  const epochs = startTimeStamp === undefined ? epochsFor(at, highest, nowMs) : [startTimeStamp];
  for (const epoch of epochs) {
    const layout = layoutOfAnyLife(at(epoch), nowMs);
    const floor = layout.idFloor(Math.max(nowMs - SKEW_MS, layout.epochMs));
    if (floor <= highest || !lastsFrom(layout.expiresAt, nowMs)) continue;
    const isUsual = isNumber && layout.epochMs === DEFAULT_LAYOUT.epochMs;
    return [{ options: isUsual ? (more as ProposedOptions) : at(epoch), layout, floor }];
  }
  return [];
}

/** The epochs to try: that of the default, and the one that the old keys demand. */
function epochsFor(at: (epoch: string) => ProposedOptions, highest: bigint, nowMs: number): string[] {
  // This refuses wrong wishes, before anything is computed with them.
  const { unitMs, lowBits } = layoutOfAnyLife(at(dayOf(nowMs)), nowMs);
  const used = highest > 0n ? Number(highest >> BigInt(lowBits)) + 1 : 1;
  const demandedMs = nowMs - used * unitMs - MARGIN_MS;
  const usual = DEFAULT_LAYOUT.epochMs <= nowMs ? [dayOf(DEFAULT_LAYOUT.epochMs)] : [];
  return demandedMs >= EARLIEST_MS ? [...usual, dayOf(demandedMs)] : usual;
}

/** Leaves out the needs, which are no part of a layout. */
function withoutNeeds(options: ProposedOptions): ProposedOptions {
  const kept = { ...options };
  delete kept.expectedNodes;
  delete kept.expectedIdsPerSecond;
  return kept;
}

function isBit(name: string): boolean {
  return (BITS as readonly string[]).includes(name);
}

function lastsFrom(end: Date | null, nowMs: number): boolean {
  return end === null || end.getTime() - nowMs >= LEAST_LIFE_MS;
}

/** The day of a moment, which begins at midnight, UTC. */
function dayOf(ms: number): string {
  return new Date(Math.floor(ms / DAY_MS) * DAY_MS).toISOString().slice(0, 10);
}

/** What people should know of a proposal: its options, how long IDs last and how many there are. */
export function proposalRemarks({ options, plan }: Proposal): string[] {
  const { expiresAt, safeUntil, idsPerSecond, workers } = plan;
  return [
    `options for the module: ${JSON.stringify(options)}`,
    `lifetime: until ${expiresAt ?? 'beyond the year 275760'}; exact JavaScript numbers until ${safeUntil ?? 'then'}`,
    `rate: ${showNumber(idsPerSecond)} IDs per second for each worker; workers ${workers.min} to ${workers.max}`,
  ];
}
