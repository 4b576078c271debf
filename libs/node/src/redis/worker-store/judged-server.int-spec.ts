import type { Redis } from 'ioredis';
import { onEmptyRedis } from '../../../../../test/support/redis/empty-redis.js';
import { KEY, WorkerBench } from '../../../../../test/support/redis/worker-bench.js';
import {
  atMs,
  FAILOVER_CASES,
  type FailoverCase,
  type FailoverVerdict,
  PRESENT_MS,
  reachesOf,
  timeOf,
} from '../../../../../test/support/stores/failover-cases.js';
import { workerScripts } from './worker-scripts.js';

/** The script's clock stands still. */
const CLOCK = ["redis.call('TIME')", `{'${PRESENT_MS / 1_000}', '0'}`] as const;

type Change = readonly [safeguard: string, replacement: string];

function changed(lua: string, [from, to]: Change): string {
  if (!lua.includes(from)) throw new Error(`the script has no ${from}`);
  return lua.replace(from, to);
}

describe('The server of a Redis', () => {
  let admin: Redis;
  /** Begins the marker that the server writes. */
  let term: string;

  onEmptyRedis(WorkerBench, (server, bench) => {
    admin = bench.admin(server);
  });

  beforeEach(async () => {
    await admin.eval(workerScripts.table.lua, 1, KEY, `0 0 ${Date.now()} 9000000000000 `);
    term = (await admin.hget(KEY, 'generation'))!.replace(/:.*/, '');
  });

  function markerOf(noted: FailoverCase['recorded']): string {
    if (noted === undefined) return '';
    return `${noted.server === 'this one' ? term : noted.server}:${atMs(noted.at) / 1_000}.0`;
  }

  const momentOf = (marker: string): number => Number(/[\d.]*$/.exec(marker)![0]);

  async function judged(given: FailoverCase, ...changes: readonly Change[]): Promise<FailoverVerdict> {
    const { recorded, believed, lostAt, fencedUntil } = given;
    const { recordedMs, ownMs } = reachesOf(given);
    const lostAtMs = lostAt === undefined ? 0 : atMs(lostAt);
    const floor = Math.max(lostAtMs && lostAtMs + recordedMs, fencedUntil === undefined ? 0 : atMs(fencedUntil));
    await admin.del(KEY);
    const meta = { generation: markerOf(recorded), floor, lostAt: lostAtMs, reach: recordedMs };
    if (recorded !== undefined) await admin.hset(KEY, meta);
    const before = await admin.hgetall(KEY);
    const lua = [CLOCK, ...changes].reduce(changed, workerScripts.table.lua);
    const call = [ownMs, 0, PRESENT_MS, 0, markerOf(believed)].join(' ');
    const [marker, barredUntil, , , what] = (await admin.eval(lua, 1, KEY, call)) as string[];
    const after = await admin.hgetall(KEY);
    const isWritten = JSON.stringify(after) !== JSON.stringify(before);
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

  it.each<[string, string, Change]>([
    [
      'believes a former primary',
      'one that another one has replaced',
      ['if not isNew and not isSame and momentOf(marker) < momentOf(own) then', 'if false then'],
    ],
    [
      'takes its own clock for the latest',
      'one whose clock is behind all that was recorded and believed',
      ['math.max(moment, momentOf(marker) + 1, momentOf(own) + 1)', 'moment'],
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
    [
      'believes any server',
      'one where another was recorded, by a process that has just begun',
      ['string.sub(marker, 1, #term) ~= term', "marker == ''"],
    ],
  ])('is judged otherwise by a script that %s', async (_, name, change) => {
    const given = FAILOVER_CASES[name]!;
    const verdict = await judged(given, change).catch((error: unknown) => error);
    expect(verdict).not.toEqual(given.verdict);
  });
});
