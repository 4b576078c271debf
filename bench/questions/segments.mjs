import { redisBuffer } from '@raindrop/node/redis';
import { median } from 'simple-statistics';
import { openBareRow } from '../parts/bare-updates.mjs';
import { openDatabases } from '../parts/databases.mjs';
import { nsPerId } from '../parts/measure.mjs';
import { orMoment } from '../parts/moment.mjs';
import { openProxy } from '../parts/proxy.mjs';
import { openRedis, REDIS } from '../parts/redis.mjs';
import { openService, WIDE } from '../parts/service.mjs';
import { takeFor, takeSteadily, takeWhile } from '../parts/take-numbers.mjs';

export const question = 'How fast do numbers from segments come, and what do they cost the database?';

const SEGMENTS = { idMode: 'numberSection' };
/** The row's own step for good, and one that grows; each with a row of its own. */
const STEPS = {
  fixed: { ...SEGMENTS, defaultCode: 'fixed', maxStep: 1_000 },
  adaptive: { ...SEGMENTS, defaultCode: 'adaptive' },
};
/** Of these no round uses up a segment. */
const LARGE = { ...SEGMENTS, defaultStep: 100_000_000, maxStep: 100_000_000, prefetchBelow: 0.1 };
/** Long enough for the step to have grown. */
const WARM_SECONDS = orMoment(0.4, 0.05);
const ROUNDS = orMoment(3, 1);
const ROUND_SECONDS = orMoment(0.4, 0.05);
const MILLION = orMoment(1_000_000, 10_000);
const FAR_MS = 200;
/** By code: what its caller takes. */
const PACES = {
  steady: { perSecond: 2_000, warmSeconds: orMoment(1, 0.1), seconds: orMoment(3, 0.1) },
  busy: { perSecond: 20_000, warmSeconds: orMoment(2, 0.1), seconds: orMoment(4, 0.1) },
};
/** The most that a process takes out of Redis at once: no more than it does by default, and as many as it needs. */
const RUNS = { 'runs of 100': 100, 'growing runs': 1_000_000 };
/** Fewer than a run has. */
const SMALL_BATCH = 25;

export async function measure() {
  const { databases, missing } = await openDatabases();
  try {
    const parts = [await warmCalls()];
    for (const database of databases) parts.push(await rates(database));
    // An embedded database has no round trips.
    const servers = databases.filter(({ options }) => options.type !== 'better-sqlite3');
    for (const database of servers) parts.push(await roundTrips(database));
    if (servers.length > 0) parts.push(await farAway(servers.at(-1)));
    parts.push(await throughRedis(databases.at(-1)), { figures: missing.map(absent) });
    return {
      figures: parts.flatMap(({ figures = [] }) => figures),
      ratios: parts.flatMap(({ ratios = [] }) => ratios),
    };
  } finally {
    await Promise.all(databases.map(({ drop }) => drop()));
  }
}

async function warmCalls() {
  const snowflakes = await openService(WIDE);
  // As it comes from a request: not the very object in the map.
  const code = ['ord', 'er'].join('');
  const segments = await openService({ ...LARGE, codes: ['default', 'order'] });
  const calls = {
    'nextId()': () => segments.ids.nextId(),
    'nextId() of a snowflake': () => snowflakes.ids.nextId(),
    'nextId(code)': () => segments.ids.nextId(code),
    'nextId(code) of a snowflake': () => snowflakes.ids.nextId(code),
    'nextString()': () => segments.ids.nextString(),
    'nextString() of a snowflake': () => snowflakes.ids.nextString(),
  };
  const ns = await nsPerId(calls, { rounds: 5 });
  await Promise.all([segments.close(), snowflakes.close()]);
  return {
    figures: Object.entries(ns).map(([name, value]) => ({ name, value, unit: 'ns' })),
    ratios: ['nextId()', 'nextId(code)', 'nextString()'].map((call) => {
      const snowflake = `${call} of a snowflake`;
      return { name: `${call} / ${snowflake}`, value: ns[call] / ns[snowflake], atMost: 2 };
    }),
  };
}

/** They take turns, so that what disturbs the machine disturbs all of them. */
async function rates(database) {
  const fixed = await openService(STEPS.fixed, { database });
  const adaptive = await openService(STEPS.adaptive, { database });
  const row = await openBareRow(database);
  const perSecond = { fixed: [], adaptive: [], updates: [] };
  for (const { ids } of [fixed, adaptive]) await takeFor(ids, WARM_SECONDS);
  for (let round = 0; round < ROUNDS; round++) {
    perSecond.fixed.push(await takeFor(fixed.ids, ROUND_SECONDS));
    perSecond.updates.push(await row.updateFor(ROUND_SECONDS));
    perSecond.adaptive.push(await takeFor(adaptive.ids, ROUND_SECONDS));
  }
  await Promise.all([fixed, adaptive, row].map((each) => each.close()));
  const { name } = database;
  const ratio = (of) => median(perSecond.fixed.map((rate, round) => of(rate, round)));
  return {
    figures: [
      { name: `${name}: step 1,000`, value: median(perSecond.fixed), unit: 'numbers/s' },
      { name: `${name}: adaptive step`, value: median(perSecond.adaptive), unit: 'numbers/s' },
      { name: `${name}: bare UPDATEs of one row`, value: median(perSecond.updates), unit: 'a second' },
    ],
    ratios: [
      {
        name: `${name}: segments of 1,000 / bare UPDATEs, a second`,
        value: ratio((rate, round) => rate / 1_000 / perSecond.updates[round]),
      },
      {
        name: `${name}: adaptive step / step 1,000, numbers a second`,
        value: ratio((rate, round) => perSecond.adaptive[round] / rate),
      },
    ],
  };
}

function roundTrips(database) {
  const what = `${database.name}: round trips`;
  return withProxy(database, {}, async (behind, proxy) => {
    const figure = async (ids, name, { millions, ...target }) => {
      const value = (await tripsOf(proxy, ids, millions * MILLION)) / millions;
      return { name: `${what} of ${name}`, value, unit: '', ...target };
    };
    const fixed = await withService(STEPS.fixed, behind, async (ids) => [
      await figure(ids, 'a million numbers, step 1,000', { millions: 1 }),
    ]);
    const adaptive = await withService(STEPS.adaptive, behind, async (ids) => [
      await figure(ids, 'a first million, adaptive step', { millions: 1 }),
      await figure(ids, 'each of ten more millions', { millions: 10, atMost: 2 }),
    ]);
    return { figures: [...fixed, ...adaptive] };
  });
}

/** The callers of a database that is far away: while the step grows, and after that. */
async function farAway(database) {
  return withProxy(database, { roundTripMs: FAR_MS }, (behind) =>
    withService({ ...SEGMENTS, codes: Object.keys(PACES) }, behind, async (ids) => {
      const figures = [];
      for (const [code, { perSecond, warmSeconds, seconds }] of Object.entries(PACES)) {
        const warming = await takeSteadily(ids, code, { perSecond, seconds: warmSeconds });
        const warm = await takeSteadily(ids, code, { perSecond, seconds });
        const what = `${database.name} ${FAR_MS} ms away, ${perSecond.toLocaleString('en')} numbers/s`;
        const among = `of ${warm.calls.toLocaleString('en')} calls`;
        figures.push({ name: `${what}, step growing: found nothing`, value: warming.empty, unit: '' });
        figures.push({ name: `${what}, step growing: longest wait`, value: warming.longestMs, unit: 'ms' });
        figures.push({ name: `${what}, warm: found nothing`, value: warm.empty, unit: '', atMost: 0, note: among });
        figures.push({ name: `${what}, warm: longest call`, value: warm.longestMs, unit: 'ms' });
      }
      return { figures };
    }),
  );
}

async function throughRedis(database) {
  const place = await openRedis();
  if (place === undefined) return {};
  const proxy = await openProxy(REDIS);
  const figures = [];
  try {
    for (const [name, maxStep] of Object.entries(RUNS)) {
      const buffer = (connection) => redisBuffer({ connection, keyPrefix: place.keyPrefix });
      const through = (connection) => ({ ...SEGMENTS, maxStep, redis: buffer(connection) });
      const perSecond = await withService(through(REDIS), database, async (ids) => {
        await takeFor(ids, WARM_SECONDS, SMALL_BATCH);
        return takeFor(ids, ROUNDS * ROUND_SECONDS, SMALL_BATCH);
      });
      const trips = await withService(through(proxy.url), database, (ids) =>
        tripsOf(proxy, ids, MILLION / 10, SMALL_BATCH),
      );
      figures.push({ name: `Redis before ${database.name}: ${name}`, value: perSecond, unit: 'numbers/s' });
      figures.push({ name: `Redis: round trips of 100,000 numbers, ${name}`, value: trips, unit: '' });
    }
  } finally {
    await proxy.stop();
    await place.drop();
  }
  return { figures };
}

/** How many round trips so many numbers take. */
async function tripsOf(proxy, ids, numbers, size) {
  const before = proxy.trips();
  await takeWhile(ids, (taken) => taken < numbers, size);
  return proxy.trips() - before;
}

async function withService(options, database, work) {
  const { ids, close } = await openService(options, { database });
  try {
    return await work(ids);
  } finally {
    await close();
  }
}

/** @param work given the database as it is to be reached through the proxy, and the proxy */
async function withProxy({ options }, distance, work) {
  const proxy = await openProxy(options.url, distance);
  try {
    return await work({ options: { ...options, url: proxy.url } }, proxy);
  } finally {
    await proxy.stop();
  }
}

function absent(name) {
  return { name, value: NaN, unit: '', note: 'no server on its usual port: left out' };
}
