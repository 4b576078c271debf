import { isDeepStrictEqual } from 'node:util';
import type { Redis } from 'ioredis';
import { judgeServer } from '@raindrop/core/internal';
import { SeededRandom } from '../../../../../test/support/engine/seeded-random.js';
import { onEmptyRedis } from '../../../../../test/support/redis/empty-redis.js';
import { KEY, WorkerBench } from '../../../../../test/support/redis/worker-bench.js';
import {
  atMs,
  FAILOVER_CASES,
  type FailoverCase,
  type FailoverVerdict,
  knownTimesOf,
  PRESENT_MS,
  reachesOf,
  timeOf,
  WRITTEN_ROW,
} from '../../../../../test/support/stores/failover-cases.js';
import { workerScripts } from './worker-scripts.js';

/** The reach of most cases, s. */
const REACH_S = 185;

/** The script's clock stands still. */
const CLOCK = ["redis.call('TIME')", `{'${PRESENT_MS / 1_000}', '0'}`] as const;

type Change = readonly [safeguard: string, replacement: string];

function changed(lua: string, [from, to]: Change): string {
  if (!lua.includes(from)) throw new Error(`the script has no ${from}`);
  return lua.replace(from, to);
}

/** Times that are often the same, or just beside each other, s after the present. */
const TIMES = [-4_000, -REACH_S - 1, -REACH_S, -100, -99, -1, 0, 1, 60, 3_600];
const REACHES = [1, REACH_S, 300];

function randomCase(random: SeededRandom): FailoverCase {
  const maybe = <T>(value: T): T | undefined => (random.chance(0.3) ? undefined : value);
  const noted = () => ({ server: random.pick(['this one', 'another', 'a third'] as const), at: random.pick(TIMES) });
  const [recorded, version] = [maybe(noted()), random.pick([undefined, 7])];
  const known = { seen: random.pick(TIMES), granted: maybe(random.pick(TIMES)), version };
  const believed =
    recorded === undefined || random.chance(0.8)
      ? { ...(random.chance(0.4) ? (recorded ?? noted()) : noted()), ...known }
      : undefined;
  const [lostAt, fencedUntil] = [maybe(random.pick(TIMES)), maybe(random.pick(TIMES))];
  return {
    verdict: 'former primary',
    reach: [random.pick(REACHES), random.pick(REACHES)],
    ...(believed && version !== undefined && { version: random.pick([0, 6, 7, 8]) }),
    ...(believed && { believed: defined(believed) }),
    ...(recorded && defined({ recorded, lostAt, fencedUntil })),
  };
}

function defined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function judgedByCore(given: FailoverCase): FailoverVerdict {
  const { recorded, believed, lostAt, fencedUntil, version = believed?.version } = given;
  const { recordedMs, ownMs } = reachesOf(given);
  const known = believed && {
    term: believed.server,
    failoverNumber: atMs(believed.at),
    ...knownTimesOf(believed),
    ...(believed.version !== undefined && { written: { id: WRITTEN_ROW, version: believed.version } }),
  };
  const seen = {
    nowMs: PRESENT_MS,
    term: 'this one',
    knownTerm: recorded?.server,
    failoverNumber: recorded === undefined ? 0 : atMs(recorded.at),
    lostAtMs: lostAt === undefined ? 0 : atMs(lostAt),
    reachMs: recorded === undefined ? 0 : recordedMs,
    fencedUntilMs: fencedUntil === undefined ? 0 : atMs(fencedUntil),
    versionOf: () => version || -1,
  };
  try {
    const { isNewFailover, mustRecord, barredUntilMs } = judgeServer(seen, ownMs, known);
    return [isNewFailover ? 'lost' : mustRecord ? 'noted' : 'believed', timeOf(barredUntilMs)];
  } catch {
    return 'former primary';
  }
}

describe('The server of a Redis', () => {
  let admin: Redis;
  /** Begins the marker that the server writes. */
  let term: string;

  onEmptyRedis(WorkerBench, (server, bench) => {
    admin = bench.admin(server);
  });

  beforeEach(async () => {
    await admin.eval(workerScripts.table.lua, 1, KEY, `0 0 ${Date.now()} 9000000000000 0 0 0 `);
    term = (await admin.hget(KEY, 'generation'))!.replace(/:.*/, '');
  });

  function markerOf(noted: FailoverCase['recorded']): string {
    if (noted === undefined) return '';
    return `${noted.server === 'this one' ? term : noted.server}:${atMs(noted.at) / 1_000}.0`;
  }

  const momentOf = (marker: string): number => Number(/[\d.]*$/.exec(marker)![0]);

  async function judged(given: FailoverCase, ...changes: readonly Change[]): Promise<FailoverVerdict> {
    const { recorded, believed, lostAt, fencedUntil, version = given.believed?.version } = given;
    const { recordedMs, ownMs } = reachesOf(given);
    const lostAtMs = lostAt === undefined ? 0 : atMs(lostAt);
    const floor = Math.max(lostAtMs && lostAtMs + recordedMs, fencedUntil === undefined ? 0 : atMs(fencedUntil));
    await admin.del(KEY);
    const meta = { generation: markerOf(recorded), floor, lostAt: lostAtMs, reach: recordedMs };
    if (recorded !== undefined) await admin.hset(KEY, meta);
    if (version) await admin.hset(KEY, WRITTEN_ROW, `${version}\n${version}`);
    const before = await admin.hgetall(KEY);
    const lua = [CLOCK, ...changes].reduce(changed, workerScripts.table.lua);
    const { seenAtMs = 0, grantedMs = 0 } = believed ? knownTimesOf(believed) : {};
    const knowledge = [Math.max(seenAtMs, grantedMs), WRITTEN_ROW, believed?.version ?? 0, markerOf(believed)];
    const call = [ownMs, 0, PRESENT_MS, 0, ...knowledge].join(' ');
    const [marker, barredUntil, , , what] = (await admin.eval(lua, 1, KEY, call)) as string[];
    const after = await admin.hgetall(KEY);
    const isWritten = !isDeepStrictEqual(after, before);
    if (what === 'former') {
      expect(isWritten).toBe(false);
      return 'former primary';
    }
    const isLost = marker !== markerOf(recorded);
    const isLast = [recorded, believed].every((noted) => momentOf(marker!) > momentOf(markerOf(noted)));
    if (isLost && !isLast) throw new Error('recorded before one that was seen');
    expect(after['generation']).toBe(marker);
    return [isLost ? 'lost' : isWritten ? 'noted' : 'believed', timeOf(Number(barredUntil))];
  }

  it.each(Object.entries(FAILOVER_CASES))('is judged as the core judges one: %s', async (_, given) => {
    expect(await judged(given)).toEqual(given.ofRedis?.[0] ?? given.verdict);
  });

  it.each([1, 2, 3, 4, 5])(
    'is judged as the core judges one, whatever it says and the process knows: seed %d',
    async (seed) => {
      const random = new SeededRandom(seed);
      for (let times = 0; times < 200; times++) {
        const given = randomCase(random);
        expect({ given, verdict: await judged(given) }).toEqual({ given, verdict: judgedByCore(given) });
      }
    },
  );

  it.each<Change>([
    ['recorded <= believed', 'recorded < believed'],
    ['bar < least', 'bar < 0'],
    ['tonumber(version) < tonumber(rowVersion)', 'false'],
    ['not isNew and not isSame and recorded < believed', 'false'],
  ])('would be judged otherwise by a script without: %s', async (...change) => {
    const random = new SeededRandom(1);
    const differ = async (given: FailoverCase): Promise<boolean> =>
      !isDeepStrictEqual(await judged(given, change).catch(() => undefined), judgedByCore(given));
    let different = 0;
    for (let times = 0; times < 200; times++) if (await differ(randomCase(random))) different++;
    expect(different).toBeGreaterThan(0);
  });

  // What the caller was granted is beyond any loss that is recorded now: one of the two clocks is wrong.
  it('is refused where its clock is behind what the caller was granted elsewhere', async () => {
    const marker = markerOf({ server: 'this one', at: -5 });
    await admin.hset(KEY, { generation: marker, floor: atMs(180), lostAt: atMs(-5), reach: 185_000 });
    const whatOf = async (wall: number): Promise<unknown> => {
      const known = [atMs(wall + 65), 0, 0, markerOf({ server: 'another', at: -1_000 })];
      const call = [185_000, 0, atMs(wall), 40_000, ...known].join(' ');
      return ((await admin.eval(changed(workerScripts.table.lua, CLOCK), 1, KEY, call)) as unknown[])[4];
    };
    expect(await whatOf(600)).toBe('skew');
    expect(await whatOf(30)).not.toBe('skew');
    expect(await admin.hget(KEY, 'generation')).toBe(marker);
  });

  it.each<[string, string, Change]>([
    [
      'believes a former primary',
      'one that another one has replaced',
      ['not isNew and not isSame and recorded < believed', 'false'],
    ],
    [
      'takes its own clock for the latest',
      'one whose clock is behind all that was recorded and believed',
      ['math.max(moment, recorded + step, believed + step)', 'moment'],
    ],
    [
      'forgets a later loss',
      'one that has lost anew, after a loss that was recorded by a clock that was ahead',
      ['math.max(lostAt, now)', 'now'],
    ],
    [
      'keeps the reach that was recorded',
      'one that was told a shorter reach than that of the process',
      ['math.max(tonumber(ownReach), knownReach,', 'math.max(knownReach,'],
    ],
    [
      'forgets a fence',
      'one that has taken over, and was fenced for longer than a loss counts',
      ['math.max(lostUntil, lostAt + reach)', 'lostAt + reach'],
    ],
    ['believes a record that went back', 'one whose record is earlier than it was', ['recorded <= believed or ', '']],
    [
      'believes one of two servers that were recorded side by side',
      'one that was recorded at the same moment as the one that was believed',
      ['recorded <= believed', 'recorded < believed'],
    ],
    [
      'believes what was made ready anew',
      'one that was taken for the first, after it had been recorded',
      [' or bar < least', ''],
    ],
    [
      'believes a fence that ended before the other server did',
      'one that was fenced long ago, after which the other one served',
      ['bar < least', 'bar == 0'],
    ],
    [
      'believes a loss that was recorded before the other server had served on',
      'one that took over long ago, after which the one before has served on',
      ['bar < least', 'lostAt == 0'],
    ],
    [
      'takes a fence of a server that never lost anything for a loss',
      'one that was fenced once the other one, which the process comes from, was cut off',
      ['bar < least', 'lostAt == 0'],
    ],
    [
      'believes an earlier row',
      'one with an earlier version of that row',
      ['tonumber(version) < tonumber(rowVersion)', 'false'],
    ],
    [
      'believes an earlier row after the bar of a fence',
      'one with an earlier version of that row, after the bar of a fence',
      ['judgesRow = isSame and bar < now', 'judgesRow = false'],
    ],
    [
      'does not count its own reach',
      'one that was recorded later by a process with a shorter reach',
      ['math.max(lostUntil, lostAt + tonumber(ownReach))', 'lostUntil'],
    ],
    [
      'waits for a clock that was ahead',
      'one that has taken over from one whose clock was an hour ahead',
      ['tonumber(known) > now + longest and now or tonumber(known)', 'tonumber(known)'],
    ],
    ['does not miss a row', 'one that lacks that row', ['not version or tonumber', 'version and tonumber']],
    [
      'believes any server',
      'one where another was recorded, by a process that has just begun',
      ['string.sub(marker, 1, #term) == term', "marker ~= ''"],
    ],
  ])('is judged otherwise by a script that %s', async (_, name, change) => {
    const given = FAILOVER_CASES[name]!;
    const verdict = await judged(given, change).catch((error: unknown) => error);
    expect(verdict).not.toEqual(given.verdict);
  });
});
