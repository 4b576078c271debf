import { SeededRandom } from '../../support/engine/seeded-random.js';

/** What can be asked for, each a group of faults. */
export const FAULT_GROUPS = ['kill', 'pause', 'net', 'clock', 'db', 'redis'] as const;
export type FaultGroup = (typeof FAULT_GROUPS)[number];

/** What keeps the worker ids. */
export type ChaosDatabaseKind = 'mariadb' | 'postgres' | 'sqlite' | 'redis';

/** What is planned, and counted when it really came about. */
export type FaultKind =
  | 'kill'
  | 'release'
  | 'pause'
  | 'refused'
  | 'halfOpen'
  | 'delayed'
  | 'cutBefore'
  | 'unanswered'
  | 'late'
  | 'clockStep'
  | 'databaseKill'
  | 'lock'
  | 'redisKill'
  | 'redisFlush'
  | 'redisSnapshot'
  | 'redisRefused'
  | 'redisHalfOpen'
  | 'redisDelayed'
  | 'redisUnanswered';

export interface PlannedFault {
  readonly atMs: number;
  readonly kind: FaultKind;
  /** Chooses the process, from 0 to below 1. */
  readonly aim: number;
  readonly lastsMs: number;
  /** How far the clock is put; for `delayed` and `late`, how long a request is held up. */
  readonly byMs: number;
}

export interface PlanOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly faults: readonly FaultGroup[];
  readonly db: ChaosDatabaseKind;
  /** How much faster than usual faults follow each other. */
  readonly pace: number;
  readonly leaseMs: number;
}

/** How often each fault comes, in seconds at pace 1. */
const EVERY_SECONDS: Readonly<Record<FaultKind, number>> = {
  kill: 3.2,
  release: 12,
  pause: 3.8,
  refused: 9,
  halfOpen: 9,
  delayed: 9,
  cutBefore: 6,
  unanswered: 4,
  late: 4,
  clockStep: 2,
  databaseKill: 18,
  lock: 5,
  redisKill: 9,
  redisFlush: 7,
  redisSnapshot: 8,
  redisRefused: 10,
  redisHalfOpen: 10,
  redisDelayed: 10,
  redisUnanswered: 4,
};

const REDIS_LOSSES: readonly FaultKind[] = ['redisKill', 'redisFlush', 'redisSnapshot'];

const REDIS: readonly FaultKind[] = [
  ...REDIS_LOSSES,
  ...(['redisRefused', 'redisHalfOpen', 'redisDelayed', 'redisUnanswered'] as const),
];

/** A loss of what keeps the worker ids bars them for a while: so much less often, or no process would get any further. */
const LOSSES_APART = 3;

const SERVER_NET: readonly FaultKind[] = ['refused', 'halfOpen', 'delayed', 'cutBefore', 'unanswered', 'late'];

/** How long a write is waited for. */
const UPDATE_MS = 3_000;

const DAY_MS = 86_400_000;
const SMALL_STEPS_MS = [1, 2, 5, 10, 30, 100, 300, 700, 1_200, 1_900, 2_100, 3_000, 5_000] as const;
const LARGE_STEPS_MS = [60_000, 3_600_000, DAY_MS, 365 * DAY_MS, 10_957 * DAY_MS] as const;

/** The kinds of fault that a run makes. */
export function plannedKinds({ faults, db }: Pick<PlanOptions, 'faults' | 'db'>): FaultKind[] {
  const kinds: FaultKind[] = [];
  if (faults.includes('kill')) kinds.push('kill', 'release');
  if (faults.includes('pause')) kinds.push('pause');
  if (faults.includes('net')) kinds.push(...(db === 'sqlite' ? (['lock'] as const) : SERVER_NET));
  if (faults.includes('clock')) kinds.push('clockStep');
  if (faults.includes('db')) kinds.push(...(db === 'redis' ? REDIS_LOSSES : (['databaseKill'] as const)));
  if (faults.includes('redis')) kinds.push(...REDIS);
  return kinds;
}

/** Every fault of a run, in the order of time; all are over at its end. It follows from the seed. */
export function planFaults(options: PlanOptions): PlannedFault[] {
  const plan = plannedKinds(options).flatMap((kind) => planKind(kind, options));
  return plan
    .filter(({ atMs, lastsMs }) => atMs + lastsMs <= options.seconds * 1_000)
    .sort((one, other) => one.atMs - other.atMs);
}

function planKind(kind: FaultKind, options: PlanOptions): PlannedFault[] {
  const { seed, seconds, pace, db } = options;
  // A sequence of its own for each kind: leaving one kind out leaves the others as they were.
  const random = new SeededRandom(seed * 31 + Object.keys(EVERY_SECONDS).indexOf(kind) * 7_919 + 1);
  const apart = db === 'redis' && REDIS_LOSSES.includes(kind) ? LOSSES_APART : 1;
  const everyMs = (EVERY_SECONDS[kind] * 1_000 * apart) / pace;
  const plan: PlannedFault[] = [];
  for (
    let atMs = everyMs * random.between(0.2, 0.8);
    atMs < seconds * 1_000;
    atMs += everyMs * random.between(0.5, 1.5)
  ) {
    const index = plan.length;
    plan.push({ atMs, kind, aim: random.fraction(), ...extentOf(kind, index, random, options) });
  }
  return plan;
}

function extentOf(
  kind: FaultKind,
  index: number,
  random: SeededRandom,
  { db, leaseMs }: PlanOptions,
): { lastsMs: number; byMs: number } {
  switch (kind) {
    case 'pause':
      // Every other one outlasts the lease.
      return {
        lastsMs: index % 2 === 0 ? leaseMs + random.between(50, 3_500) : random.between(20, leaseMs * 0.9),
        byMs: 0,
      };
    case 'delayed':
    case 'redisDelayed':
      return { lastsMs: random.between(500, 2_500), byMs: random.between(20, 220) };
    case 'late':
      // At once after the client has left, or when it has long found out.
      return { lastsMs: UPDATE_MS, byMs: index % 2 === 0 ? random.between(0, 5) : random.between(50, 4_000) };
    case 'clockStep':
      return { lastsMs: random.between(300, 3_000), byMs: clockStep(index, random, db) };
    case 'databaseKill':
    case 'redisKill':
      return { lastsMs: random.between(0, 3_000), byMs: 0 };
    case 'redisSnapshot':
      // Every other one is so new that what it holds was in use just now.
      return { lastsMs: index % 2 === 0 ? random.between(20, 300) : random.between(0, 3_000), byMs: 0 };
    case 'lock':
      return { lastsMs: random.between(450, 3_000), byMs: 0 };
    case 'refused':
    case 'halfOpen':
    case 'redisRefused':
    case 'redisHalfOpen':
      return { lastsMs: random.between(500, 3_500), byMs: 0 };
    case 'cutBefore':
    case 'unanswered':
    case 'redisUnanswered':
      return { lastsMs: UPDATE_MS, byMs: 0 };
    case 'kill':
    case 'release':
    case 'redisFlush':
      return { lastsMs: 0, byMs: 0 };
  }
}

/**
 * Mostly small, both ways. SQLite has no clock but the process's own: what is put years ahead there is written to the
 * file as the truth, and the row is used up until then, which is no fault of anybody's. Forward stays small for it.
 */
function clockStep(index: number, random: SeededRandom, db: ChaosDatabaseKind): number {
  const direction = random.pick([-1, 1]);
  const isLarge = index % 4 === 3;
  if (isLarge && (db !== 'sqlite' || direction < 0)) return direction * Math.round(random.pick(LARGE_STEPS_MS));
  return direction * random.pick(SMALL_STEPS_MS);
}
