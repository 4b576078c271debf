/** A server that was recorded, or that a process believed last. */
interface Noted {
  readonly server: 'this one' | 'another' | 'a third';
  /** When that was recorded, s after the present. */
  readonly at: number;
}

/** What a process knows of the server that it believed last. */
interface Known extends Noted {
  /** When that answered last, s after the present. Default: when it was recorded. */
  readonly seen?: number;
  /** Up to when it has granted the process IDs, s after the present; left out where it has granted none. */
  readonly granted?: number;
  /** The version of the row that the process has written there last; left out where it has written none. */
  readonly version?: number;
}

/** What a server says of itself, and what the process that looks at it knows. All times are s after the present. */
export interface FailoverCase {
  readonly recorded?: Noted;
  readonly believed?: Known;
  /** The version of that row on the server that answers; 0 where it is missing. Default: the same. */
  readonly version?: number;
  /** When the last loss was recorded; left out where there was none. */
  readonly lostAt?: number;
  readonly fencedUntil?: number;
  /** How far grants may reach past a loss: as it was recorded, and of the process that looks, s. */
  readonly reach?: readonly [recorded: number, own: number];
  readonly verdict: FailoverVerdict;
  /** Where Redis is judged otherwise, and why. */
  readonly ofRedis?: readonly [verdict: FailoverVerdict, reason: string];
}

/** `lost`: a failover is recorded, with a number after all that were seen. `noted`: only something else is written. */
export type FailoverVerdict =
  'former primary' | readonly [what: 'believed' | 'noted' | 'lost', barredUntil: number | undefined];

/** The present of the cases, Unix ms. */
export const PRESENT_MS = 1_700_000_000_000;

/** The reach where a case says nothing of it, s. */
const REACH = 185;

/** A time of a case, Unix ms. */
export function atMs(time: number): number {
  return PRESENT_MS + time * 1_000;
}

/** The row that a process has written last. */
export const WRITTEN_ROW = 1;

/** Up to when a process was granted IDs by the server that it believed, and when that answered last, Unix ms. */
export function knownTimesOf({ at, seen = at, granted }: Known): { readonly seenAtMs: number; grantedMs: number } {
  return { seenAtMs: atMs(seen), grantedMs: granted === undefined ? 0 : atMs(granted) };
}

/** The inverse of {@link atMs}; undefined for 0, which stands for no time. */
export function timeOf(ms: number): number | undefined {
  return ms === 0 ? undefined : (ms - PRESENT_MS) / 1_000;
}

/** The recorded reach and that of the process, ms. */
export function reachesOf({ reach = [REACH, REACH] }: FailoverCase): { readonly recordedMs: number; ownMs: number } {
  return { recordedMs: reach[0] * 1_000, ownMs: reach[1] * 1_000 };
}

/** `judgeServer` of the core and the script of Redis judge a server alike; the rule is in the core's failover-guard.ts. */
export const FAILOVER_CASES: Readonly<Record<string, FailoverCase>> = {
  'the one that was recorded, by a process that has just begun': {
    recorded: { server: 'this one', at: -100 },
    lostAt: -50,
    verdict: ['believed', -50 + REACH],
  },
  'the one that was recorded and believed': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'this one', at: -100 },
    lostAt: -50,
    verdict: ['believed', -50 + REACH],
  },
  'one that has never lost anything': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'this one', at: -100 },
    verdict: ['believed', undefined],
  },
  'one that another process has recorded anew': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'this one', at: -200 },
    lostAt: -100,
    verdict: ['believed', -100 + REACH],
  },
  'one that was recorded after the one that was believed': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'another', at: -200 },
    lostAt: -100,
    verdict: ['believed', -100 + REACH],
  },
  'one where another was recorded, by a process that has just begun': {
    recorded: { server: 'another', at: -100 },
    verdict: ['lost', REACH],
  },
  'one where the one that was believed was recorded': {
    recorded: { server: 'another', at: -100 },
    believed: { server: 'another', at: -100 },
    verdict: ['lost', REACH],
  },
  'one where another was recorded, and a later one was believed': {
    recorded: { server: 'another', at: -300 },
    believed: { server: 'a third', at: -100 },
    verdict: ['lost', REACH],
  },
  'one that has forgotten its record, which this process knows': {
    believed: { server: 'this one', at: -100 },
    verdict: ['lost', REACH],
  },
  'one without a record, by a process that has believed another': {
    believed: { server: 'another', at: -100 },
    verdict: ['lost', REACH],
  },
  'one that another one has replaced': {
    recorded: { server: 'this one', at: -200 },
    believed: { server: 'another', at: -100 },
    verdict: 'former primary',
  },
  'one that another one has replaced, with a loss of its own before': {
    recorded: { server: 'this one', at: -200 },
    believed: { server: 'another', at: -100 },
    lostAt: -31_536_000,
    verdict: 'former primary',
  },
  'one whose clock is behind all that was recorded and believed': {
    recorded: { server: 'another', at: 3_600 },
    believed: { server: 'a third', at: 7_200 },
    verdict: ['lost', REACH],
  },
  'one that has lost anew, after a loss that was recorded by a clock that was ahead': {
    recorded: { server: 'another', at: -100 },
    lostAt: 3_600,
    reach: [REACH, 300],
    verdict: ['lost', 3_600 + 300],
  },
  'one that was told a shorter reach than that of the process': {
    recorded: { server: 'this one', at: -100 },
    lostAt: -50,
    reach: [1, 300],
    verdict: ['noted', -50 + 300],
  },
  'one that was told a shorter reach, and has never lost anything': {
    recorded: { server: 'this one', at: -100 },
    reach: [1, 300],
    verdict: ['noted', undefined],
  },
  'one that was told a longer reach than that of the process': {
    recorded: { server: 'this one', at: -100 },
    lostAt: -50,
    reach: [300, 1],
    verdict: ['believed', -50 + 300],
  },
  'one that has taken over, where a longer reach was recorded': {
    recorded: { server: 'another', at: -100 },
    reach: [300, 1],
    verdict: ['lost', 300],
  },
  'one that was fenced beyond its last loss': {
    recorded: { server: 'this one', at: -100 },
    lostAt: -50,
    fencedUntil: 500,
    verdict: ['believed', 500],
  },
  'one that has taken over, and was fenced for longer than a loss counts': {
    recorded: { server: 'another', at: -100 },
    fencedUntil: 500,
    verdict: ['lost', 500],
  },
  'one without a record, by a process that has just begun': {
    verdict: ['noted', undefined],
    ofRedis: [['lost', REACH], 'a Redis that shows nothing may have lost all: initRedisWorkers() says that it did not'],
  },
  'one that was recorded at the same moment as the one that was believed': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'another', at: -100 },
    lostAt: -100,
    verdict: ['lost', REACH],
  },
  'one that was recorded at the same moment as a third, while its clock is behind that': {
    recorded: { server: 'this one', at: 3_600 },
    believed: { server: 'a third', at: 3_600 },
    lostAt: -100,
    verdict: ['lost', REACH],
  },
  'one that was taken for the first, by a process that has believed another before': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'another', at: -200 },
    verdict: ['lost', REACH],
  },
  'one that was taken for the first, after it had been recorded': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'this one', at: -200, seen: -110 },
    verdict: ['lost', REACH],
  },
  'one whose record is earlier than it was': {
    recorded: { server: 'this one', at: -200 },
    believed: { server: 'this one', at: -100 },
    lostAt: -200,
    verdict: ['lost', REACH],
  },
  'one whose record is earlier than it was, before a fence': {
    recorded: { server: 'this one', at: -200 },
    believed: { server: 'this one', at: 110, seen: -5 },
    verdict: ['lost', REACH],
  },
  'one with the row that the process has written': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'this one', at: -100, seen: -1, granted: 64, version: 7 },
    verdict: ['believed', undefined],
  },
  'one with a later version of that row': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'this one', at: -100, version: 7 },
    version: 9,
    verdict: ['believed', undefined],
  },
  'one with an earlier version of that row': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'this one', at: -100, version: 7 },
    version: 6,
    verdict: ['lost', REACH],
  },
  'one that lacks that row': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'this one', at: -100, version: 7 },
    version: 0,
    verdict: ['lost', REACH],
  },
  'one with an earlier version of that row, since a loss that another process has recorded': {
    recorded: { server: 'this one', at: -5 },
    believed: { server: 'this one', at: -100, seen: -10, granted: 60, version: 7 },
    version: 6,
    lostAt: -5,
    verdict: ['believed', -5 + REACH],
  },
  'one with an earlier version of that row, after the bar of a fence': {
    recorded: { server: 'this one', at: -3_480 },
    believed: { server: 'this one', at: -4_000, seen: -3_610, granted: -3_545, version: 7 },
    version: 6,
    fencedUntil: -3_600 + REACH,
    verdict: ['lost', REACH],
  },
  'one that was fenced once the other one, which the process comes from, was cut off': {
    recorded: { server: 'this one', at: 20 },
    believed: { server: 'another', at: -1_000, seen: -150, granted: -60 },
    fencedUntil: -100 + REACH,
    verdict: ['believed', -100 + REACH],
  },
  'one that was fenced long ago, after which the other one served': {
    recorded: { server: 'this one', at: -3_000 },
    believed: { server: 'another', at: -3_100, seen: -10, granted: 55 },
    fencedUntil: -3_120 + REACH,
    verdict: ['lost', REACH],
  },
  'one that was fenced for less than the other one has granted': {
    recorded: { server: 'this one', at: 20 },
    believed: { server: 'another', at: -1_000, seen: -10, granted: 86 },
    fencedUntil: -100 + REACH,
    verdict: ['lost', REACH],
  },
  'one that has taken over, while old sessions led to the one before': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'another', at: -1_000, seen: -40, granted: 55 },
    lostAt: -100,
    verdict: ['believed', -100 + REACH],
  },
  'one that was recorded later by a process with a shorter reach': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'another', at: -1_000, seen: -110, granted: 150 },
    lostAt: -100,
    reach: [1, 300],
    verdict: ['noted', -100 + 300],
  },
  'one that has taken over from one whose clock was an hour ahead': {
    recorded: { server: 'this one', at: -5 },
    believed: { server: 'another', at: -1_000, seen: 3_590, granted: 3_655 },
    lostAt: -5,
    verdict: ['believed', -5 + REACH],
  },
  'one that was taken for the first, after one whose clock was an hour ahead': {
    recorded: { server: 'this one', at: -5 },
    believed: { server: 'another', at: -1_000, seen: 3_590, granted: 3_655 },
    verdict: ['lost', REACH],
  },
  'one that took over long ago, after which the one before has served on': {
    recorded: { server: 'this one', at: -3_000 },
    believed: { server: 'another', at: -4_000, seen: -10, granted: 55 },
    lostAt: -3_000,
    verdict: ['lost', REACH],
  },
  'one whose bar is shorter than the grants of a process without a reach': {
    recorded: { server: 'this one', at: -200 },
    believed: { server: 'another', at: -1_000, seen: -210, granted: 55 },
    lostAt: -200,
    reach: [REACH, 0],
    verdict: ['lost', REACH],
  },
  'one whose bar is shorter than the grants of the process, where no reach was recorded': {
    recorded: { server: 'this one', at: -200 },
    believed: { server: 'another', at: -1_000, seen: -210, granted: 55 },
    lostAt: -200,
    reach: [0, REACH],
    verdict: ['lost', REACH],
  },
  'one that was fenced where nothing has a reach, after which the process was granted more': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'another', at: -1_000, seen: -10, granted: 55 },
    fencedUntil: -5,
    reach: [0, 0],
    verdict: ['lost', 0],
  },
  // Nothing tells it from one that was recorded just before the fence, by a clock that was ahead. Fence it, or restart
  // the process.
  'one that is new, where the other one was fenced and died at once': {
    recorded: { server: 'this one', at: -10 },
    believed: { server: 'another', at: 90, seen: -20, granted: 45 },
    verdict: 'former primary',
  },
};
