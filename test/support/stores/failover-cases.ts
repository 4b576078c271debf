/** A server that was recorded, or that a process believed last. */
interface Noted {
  readonly server: 'this one' | 'another' | 'a third';
  /** When that was recorded, s after the present. */
  readonly at: number;
}

/** What a server says of itself, and what the process that looks at it knows. All times are s after the present. */
export interface FailoverCase {
  readonly recorded?: Noted;
  readonly believed?: Noted;
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

/** The inverse of {@link atMs}; undefined for 0, which stands for no time. */
export function timeOf(ms: number): number | undefined {
  return ms === 0 ? undefined : (ms - PRESENT_MS) / 1_000;
}

/** The recorded reach and that of the process, ms. */
export function reachesOf({ reach = [REACH, REACH] }: FailoverCase): { readonly recordedMs: number; ownMs: number } {
  return { recordedMs: reach[0] * 1_000, ownMs: reach[1] * 1_000 };
}

/** `judgeServer` of the core and the script of Redis judge a server alike. */
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
    ofRedis: [['believed', -100 + REACH], 'its moments are of a microsecond: no two servers have the same'],
  },
  'one that was taken for the first, by a process that has believed another before': {
    recorded: { server: 'this one', at: -100 },
    believed: { server: 'another', at: -200 },
    verdict: ['lost', REACH],
    ofRedis: [['believed', undefined], 'an operator has called initRedisWorkers() on it'],
  },
  'one whose record is earlier than it was': {
    recorded: { server: 'this one', at: -200 },
    believed: { server: 'this one', at: -100 },
    lostAt: -200,
    verdict: ['lost', REACH],
    ofRedis: [['believed', -200 + REACH], 'an operator has restored the key, and has to fence it'],
  },
};
