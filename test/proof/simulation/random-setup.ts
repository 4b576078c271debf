import { resolveLeaseOptions, sessionAgesOf } from '@raindrop/core/internal';
import { TIME_UNITS, type GeneratorOptions, type LeaseOptions, type TimeUnit } from '@raindrop/core';
import type { LayoutChoice } from './layout-choice.js';
import type { Family, Setup } from './plan.js';
import type { SeededRandom } from '../../support/engine/seeded-random.js';

/** What a schedule is about as a rule of its seed; the others draw their family. */
export type SetupKind = 'failovers' | 'restores' | 'others';

/** The others. */
const FAMILIES: Readonly<Record<Exclude<Family, 'failovers' | 'restores'>, number>> = {
  'one-layout': 54,
  'disjoint-layouts': 14,
  'overlapping-layouts': 18,
  'lost-commits': 14,
};

const UNITS: readonly TimeUnit[] = ['millisecond', 'second', 'minute', 'hour', 'day'];

/** Enough for 70 years and more. */
const TIME_BITS: Readonly<Record<TimeUnit, number>> = { millisecond: 42, second: 32, minute: 26, hour: 20, day: 16 };

const DEFAULTS = {
  heartbeatIntervalMs: 10_000,
  leaseMs: 60_000,
  horizonMs: 65_000,
  graceMs: 60_000,
  opTimeoutMs: 3_000,
};

/** What hurried services set. */
const LEASES = [
  {
    heartbeatIntervalMs: 400,
    leaseMs: 2_000,
    horizonMs: 2_500,
    graceMs: 1_000,
    opTimeoutMs: 300,
    maxClockSkewMs: 1_000,
  },
  { heartbeatIntervalMs: 500, leaseMs: 1_500, opTimeoutMs: 250, maxClockSkewMs: 500 },
  { heartbeatIntervalMs: 1_000, leaseMs: 4_000, horizonMs: 4_000, graceMs: 0, opTimeoutMs: 500, maxClockSkewMs: 2_000 },
  {
    heartbeatIntervalMs: 900,
    leaseMs: 3_000,
    horizonMs: 9_000,
    graceMs: 3_000,
    opTimeoutMs: 250,
    maxClockSkewMs: 30_000,
  },
];

/** Much more is reserved than a lease lasts. */
const FURTHEST_AHEAD = {
  heartbeatIntervalMs: 2_000,
  leaseMs: 8_000,
  horizonMs: 68_000,
  graceMs: 0,
  opTimeoutMs: 500,
  maxClockSkewMs: 500,
};

/** What failovers are tried with besides: no grace, skews of all sizes. */
const FAILOVER_LEASES: readonly (Readonly<Required<Pick<LeaseOptions, 'leaseMs' | 'horizonMs' | 'maxClockSkewMs'>>> &
  LeaseOptions)[] = [
  { heartbeatIntervalMs: 2_000, leaseMs: 8_000, horizonMs: 8_000, graceMs: 0, opTimeoutMs: 500, maxClockSkewMs: 1_000 },
  { heartbeatIntervalMs: 400, leaseMs: 2_000, horizonMs: 2_500, graceMs: 0, opTimeoutMs: 300, maxClockSkewMs: 300 },
  {
    heartbeatIntervalMs: 500,
    leaseMs: 1_500,
    horizonMs: 6_500,
    graceMs: 1_500,
    opTimeoutMs: 250,
    maxClockSkewMs: 500,
  },
  { heartbeatIntervalMs: 900, leaseMs: 3_000, horizonMs: 3_000, graceMs: 0, opTimeoutMs: 250, maxClockSkewMs: 10_000 },
];

/** Makes up what a schedule is about. */
export function randomSetup(random: SeededRandom, kind: SetupKind): Setup {
  if (kind === 'restores') return restoreSetup(random);
  return kind === 'failovers' ? failoverSetup(random) : drawnSetup(random);
}

/** A service that holds its rows for longer without its store. */
function longer(lease: LeaseOptions, random: SeededRandom): LeaseOptions {
  const { leaseMs = 0, horizonMs = 0 } = lease;
  const times = random.pick([2, 4, 4]);
  return { ...lease, leaseMs: leaseMs * random.pick([1, times, times]), horizonMs: horizonMs * times };
}

/** Few IDs in a tick, so that what is issued twice is seen; one server, or servers that take turns. */
function restoreSetup(random: SeededRandom): Setup {
  const { serverOffsets, layouts, lease, ...others } = failoverSetup(random);
  const isCoarse = random.chance(0.15);
  const unit = isCoarse ? random.pick<TimeUnit>(['minute', 'hour']) : 'second';
  const first = { ...layouts[0]!, unit, timeBits: TIME_BITS[unit] + 2, sequenceBits: random.pick([1, 1, 3]) };
  const otherLease = random.chance(0.6) ? longer(lease, random) : lease;
  const unitMs = TIME_UNITS[unit].ms;
  const { reachMs } = sessionAgesOf(resolveLeaseOptions(otherLease));
  const shiftMs = unitMs * Math.ceil((reachMs + 2 * (otherLease.leaseMs ?? 0)) / unitMs);
  const second = { ...first, epochShiftMs: random.chance(0.75) ? -shiftMs : shiftMs };
  return {
    ...others,
    family: 'restores',
    lease,
    otherLease,
    lossMs: Math.max(others.lossMs, lease.leaseMs ?? 0),
    ...(isCoarse && { generator: generatorOf(true, random) }),
    layouts: random.chance(0.7) ? [first, second] : [first],
    ...(random.chance(0.7) && { serverOffsets }),
  };
}

function failoverSetup(random: SeededRandom): Setup {
  const lease = {
    ...random.pick([FURTHEST_AHEAD, FURTHEST_AHEAD, ...FAILOVER_LEASES]),
    waitForWorkerMs: 86_400_000,
    priorityEqualCodeWorkId: random.chance(0.3),
  };
  // A process that may issue far ahead of its clock does so in four schedules of five.
  const isFarAhead = lease.horizonMs === FURTHEST_AHEAD.horizonMs && random.chance(0.8);
  const [first] = layoutsOf('one-layout', random);
  const unit = isFarAhead ? 'second' : random.pick<TimeUnit>(['millisecond', 'second', 'second', 'minute', 'hour']);
  const unitMs = TIME_UNITS[unit].ms;
  const layout: LayoutChoice = {
    ...first!,
    unit,
    timeBits: TIME_BITS[unit] + 2,
    sequenceBits: isFarAhead ? random.pick([1, 3]) : random.pick([1, 3, 8]),
    // Of two lanes the other one would be taken.
    clockBack: random.chance(0.4),
    firstLane: 0,
  };
  // Its IDs are those of the first one so much earlier; or later, by what starts wait for.
  const inTicks = (ms: number): number => unitMs * Math.ceil(ms / unitMs);
  const { leaseMs, horizonMs, maxClockSkewMs: skewMs } = lease;
  const epochShiftMs = inTicks(horizonMs * random.pick([0.1, 0.5, 1, 1.5]));
  const earlierMs = inTicks(sessionAgesOf(resolveLeaseOptions(lease)).reachMs + leaseMs / 2);
  const offset = (): number => Math.round(skewMs * random.pick([-1, -0.5, 0, 0.5, 1]));
  const isBorrowing = isFarAhead || (unitMs <= 1_000 && random.chance(0.8));
  return {
    family: 'failovers',
    layouts: random.chance(0.4)
      ? [layout, { ...layout, epochShiftMs }, { ...layout, epochShiftMs: -earlierMs }]
      : [layout],
    lease,
    otherLease: lease,
    lossMs: Math.round(leaseMs * random.pick([0.05, 0.5, 1.5, 4, 20])),
    serverOffsets: random.chance(0.5) ? [0, 0, 0] : [offset(), offset(), offset()],
    hostsAheadMs: random.chance(0.5) ? 0 : Math.round(skewMs * random.pick([0.5, 0.9])),
    generator: {
      ...generatorOf(unitMs >= 60_000, random),
      ...(isBorrowing && { onExhausted: 'borrow', maxAheadMs: isFarAhead ? 60_000 : 1_000 }),
    },
    wall: wallOf(random),
  };
}

function drawnSetup(random: SeededRandom): Setup {
  const family = random.weighted(FAMILIES);
  const layouts = layoutsOf(family, random);
  const coarse = layouts.some(({ unit }) => TIME_UNITS[unit].ms >= 60_000);
  const lease = leaseOf(family, random);
  return {
    family,
    layouts,
    lease,
    lossMs: lease.commitLossWindowMs ?? 0,
    // What can be lost is waited for by all alike, as the documentation demands; so is what other programs leave behind.
    otherLease:
      family === 'lost-commits' || random.chance(0.7)
        ? lease
        : { ...leaseOf(family, random), adoptForeign: lease.adoptForeign },
    generator: generatorOf(coarse, random),
    wall: wallOf(random),
  };
}

function layoutsOf(family: Family, random: SeededRandom): LayoutChoice[] {
  // What a database forgets is hardest to tell where a tick outlasts the forgetting.
  const unit =
    family === 'lost-commits' && random.chance(0.6) ? random.pick<TimeUnit>(['minute', 'hour']) : random.pick(UNITS);
  const endBits = family === 'disjoint-layouts' ? 1 + random.below(2) : random.pick([0, 0, 1]);
  const first: LayoutChoice = {
    unit,
    timeBits: TIME_BITS[unit] + random.below(4),
    workerBits: 3 + random.below(2),
    clockBack: random.chance(0.8),
    // A few bits are used up all the time, many never; milliseconds have no room for more than 11.
    sequenceBits: random.pick([1, 2, 3, 5, 8, unit === 'millisecond' ? 11 : 20]),
    endBits,
    endValue: 0,
    firstLane: random.chance(0.7) ? 0 : 1,
  };
  if (family === 'disjoint-layouts') {
    const second = random.pick(UNITS);
    const sequenceBits = random.pick([1, 3, 9]);
    return [first, { ...first, unit: second, timeBits: TIME_BITS[second] + 2, sequenceBits, endValue: 1 }];
  }
  if (family === 'overlapping-layouts') return [first, overlapping(first, random)];
  return [first];
}

/** Another layout of the same numbers: most of them give larger IDs, so that a one-way change is possible. */
function overlapping(first: LayoutChoice, random: SeededRandom): LayoutChoice {
  const { unit, sequenceBits, workerBits } = first;
  switch (random.below(6)) {
    case 0:
      // More bits below the time: every ID is larger.
      return { ...first, sequenceBits: sequenceBits + 2 };
    case 1: {
      // Shorter ticks: larger numbers.
      const shorter = UNITS[Math.max(0, UNITS.indexOf(unit) - 1)]!;
      return {
        ...first,
        unit: shorter,
        timeBits: TIME_BITS[shorter] + 2,
        sequenceBits: Math.min(sequenceBits + (shorter === unit ? 1 : 0), 12),
      };
    }
    case 2:
      // Anything.
      return { ...first, clockBack: !first.clockBack, sequenceBits: random.pick([1, 4, 9]) };
    default:
      // As many, cut otherwise: an even worker's IDs are those of half its number.
      return { ...first, workerBits: workerBits - 1, sequenceBits: sequenceBits + 1, firstLane: 0 };
  }
}

function leaseOf(family: Family, random: SeededRandom): LeaseOptions {
  // The defaults take long: every try that fails is made again within 800 ms of a lease of 60 s.
  const lease = random.chance(family === 'lost-commits' ? 0.3 : 0.05) ? DEFAULTS : random.pick(LEASES);
  const waitForWorkerMs = random.chance(0.5) ? 4 * lease.leaseMs : 0;
  const priorityEqualCodeWorkId = random.chance(0.3);
  if (family === 'lost-commits') {
    // The next process waits for possibly lost grants: the grace is the one that follows from the window.
    const { leaseMs, heartbeatIntervalMs, opTimeoutMs } = lease;
    // Half of them end while the first renewal after an acquire may be under way.
    const commitLossWindowMs = random.chance(0.5)
      ? Math.round(leaseMs * random.pick([0.05, 0.5, 1.5, 4]))
      : Math.round(heartbeatIntervalMs * 0.9 + opTimeoutMs * random.fraction());
    return { ...lease, graceMs: undefined, waitForWorkerMs, priorityEqualCodeWorkId, commitLossWindowMs };
  }
  const others = { ...lease, waitForWorkerMs, priorityEqualCodeWorkId, adoptForeign: random.chance(0.4) };
  if (!random.chance(0.15)) return others;
  return { ...others, graceMs: undefined, commitLossWindowMs: Math.round(lease.leaseMs / 2) };
}

function generatorOf(coarse: boolean, random: SeededRandom): GeneratorOptions {
  return {
    maxHoldMs: random.pick([0, 500, 3_000]),
    maxAheadMs: random.pick([0, 5, 1_000]),
    maxCodes: random.pick([1, 2, 10_000]),
    onClockBack: random.pick(['wait', 'throw']),
    ...(random.chance(0.5) && { onExhausted: random.pick(['wait', 'throw']) }),
    ...(!coarse && { sequenceStart: random.pick(['zero', 'continue', 'random']) }),
  };
}

/** Half of all schedules begin shortly before a minute, an hour and a day end. */
function wallOf(random: SeededRandom): number {
  const noon = Date.parse('2026-03-01T12:00:00.000Z');
  return random.chance(0.5) ? noon + random.below(3_600_000) : noon + 12 * 3_600_000 - random.below(100_000);
}
