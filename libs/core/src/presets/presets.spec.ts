import fc from 'fast-check';
import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import { StaticTenure } from '../generator/tenure.js';
import { InvalidIdError } from '../codec/id-codec.js';
import { ClockBeforeEpochError, TimestampOverflowError } from '../layout/layout-errors.js';
import { Layout, parseId, shapeOfFingerprint } from '../layout/layout.js';
import { RaindropError } from '../raindrop-error.js';
import { GeneratorBench, thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { caught } from '../../../../test/support/engine/caught.js';
import { ConfigurationError, type ConfigurationProblem, OptionReader } from '../config/option-reader.js';
import { reportOutsideLife, type ResolvedLayout, type WorkerRange } from '../layout/layout-options.js';
import { LayoutConflictError } from '../lease/lease-errors.js';
import { presets } from './presets.js';

const startTimeStamp = '2026-01-01';

/** Every preset as it comes, with what its documentation promises. `readsUntil`: the end of what it reads. */
const ROWS: readonly {
  name: keyof typeof presets;
  layout: Layout;
  fields: string;
  epoch: string;
  issuesUntil: string;
  readsUntil: string;
  workers: number;
  perSecond: number;
}[] = [
  {
    name: 'twitter',
    layout: presets.twitter(),
    fields: 'timestamp 41 / datacenter 5 / machine 5 / sequence 12',
    epoch: '2010-11-04T01:42:54.657Z',
    issuesUntil: '2080-07-10T17:30:30.209Z',
    readsUntil: '2080-07-10T17:30:30.209Z',
    workers: 1_024,
    perSecond: 4_096_000,
  },
  {
    name: 'westid',
    layout: presets.westid(),
    fields: 'timestamp 41 / worker 10 / sequence 12',
    epoch: '2017-03-24T17:04:43.706+08:00',
    issuesUntil: '2086-11-29T00:52:19.258Z',
    readsUntil: '2086-11-29T00:52:19.258Z',
    workers: 1_024,
    perSecond: 4_096_000,
  },
  {
    name: 'uidGenerator',
    layout: presets.uidGenerator(),
    fields: 'timestamp 28 / worker 22 / sequence 13',
    epoch: '2016-05-20T00:00:00+08:00',
    issuesUntil: '2024-11-20T21:24:16+08:00',
    readsUntil: '2024-11-20T21:24:16+08:00',
    workers: 4_194_304,
    perSecond: 8_192,
  },
  {
    name: 'uidGeneratorGlobal',
    layout: presets.uidGeneratorGlobal({ datacenterId: 3 }),
    fields: 'timestamp 28 / datacenter 5 = 3 / worker 17 / sequence 13',
    epoch: '2016-05-20T00:00:00+08:00',
    issuesUntil: '2024-11-20T21:24:16+08:00',
    readsUntil: '2024-11-20T21:24:16+08:00',
    workers: 131_072,
    perSecond: 8_192,
  },
  {
    name: 'keyWorker',
    layout: presets.keyWorker(),
    fields: 'timestamp 42 / process 5 / machine 5 / sequence 12',
    epoch: '2010-11-04T01:42:54.657Z',
    issuesUntil: '2080-07-10T17:30:30.209Z',
    readsUntil: '2150-03-18T09:18:05.761Z',
    workers: 1_024,
    perSecond: 4_096_000,
  },
  {
    name: 'discord',
    layout: presets.discord(),
    fields: 'timestamp 42 / worker 5 / process 5 / sequence 12',
    epoch: '2015-01-01T00:00:00Z',
    issuesUntil: '2084-09-06T15:47:35.552Z',
    readsUntil: '2154-05-15T07:35:11.104Z',
    workers: 1_024,
    perSecond: 4_096_000,
  },
  {
    name: 'instagram',
    layout: presets.instagram(),
    fields: 'timestamp 41 / shard 13 / sequence 10',
    epoch: '2011-08-24T21:07:01.721Z',
    issuesUntil: '2046-06-27T17:00:49.497Z',
    readsUntil: '2081-04-30T12:54:37.273Z',
    workers: 8_192,
    perSecond: 1_024_000,
  },
  {
    name: 'sonyflake',
    layout: presets.sonyflake(),
    fields: 'timestamp 39 / sequence 8 / machine 16',
    epoch: '2014-09-01T00:00:00Z',
    issuesUntil: '2188-11-16T03:28:58.880Z',
    readsUntil: '2188-11-16T03:28:58.880Z',
    workers: 65_536,
    perSecond: 25_600,
  },
  {
    name: 'tsid',
    layout: presets.tsid(),
    fields: 'timestamp 42 / node 10 / sequence 12',
    epoch: '2020-01-01T00:00:00Z',
    issuesUntil: '2089-09-06T15:47:35.552Z',
    readsUntil: '2159-05-15T07:35:11.104Z',
    workers: 1_024,
    perSecond: 4_096_000,
  },
];

/** A preset with an epoch of today. */
function later(name: keyof typeof presets): Layout {
  if (name === 'uidGeneratorGlobal') return presets[name]({ startTimeStamp, datacenterId: 3 });
  return presets[name]({ startTimeStamp });
}

it('There is a row for every preset', () => {
  expect(ROWS.map(({ name }) => name)).toEqual(Object.keys(presets));
  expect(Object.isFrozen(presets)).toBe(true);
});

describe.each(ROWS)('The preset $name', ({ layout, ...row }) => {
  const parts = fc.record({
    tick: fc.oneof(fc.integer({ min: 0, max: layout.maxTick }), fc.constantFrom(0, layout.maxTick)),
    workerId: fc.integer({ min: 0, max: layout.maxWorkerId }),
    clockBack: fc.constant(0),
    sequence: fc.integer({ min: 0, max: layout.maxSequence }),
  });

  it('has the fields, the epoch, the life and the room that it is said to have', () => {
    const fields = layout.fields.map(
      ({ name, bits, value }) => `${name} ${bits}${value === undefined ? '' : ` = ${value}`}`,
    );
    expect(fields.join(' / ')).toBe(row.fields);
    expect(layout.epochMs).toBe(Date.parse(row.epoch));
    expect(layout.expiresAt).toEqual(new Date(row.issuesUntil));
    expect([layout.maxWorkerId + 1, layout.idsPerSecond]).toEqual([row.workers, row.perSecond]);
    expect(layout.hasClockBack).toBe(false);
  });

  it('reads every ID of its width, and no larger one', () => {
    const largest = 2n ** BigInt(layout.bits) - 1n;
    const { time, tick } = parseId(layout, largest);
    expect(layout.timeline.startOf(tick + 1)).toBe(Date.parse(row.readsUntil));
    expect(time.getTime()).toBe(Date.parse(row.readsUntil) - layout.unitMs);
    expect(parseId(layout, String(largest)).tick).toBe(tick);
    expect(() => parseId(layout, largest + 1n)).toThrow(InvalidIdError);
    expect(() => parseId(layout, -1n)).toThrow(InvalidIdError);
  });

  it('unpacks what it packs', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const id = layout.pack(given);
        expect(id < 2n ** 63n).toBe(true);
        expect(layout.unpack(id)).toEqual({ ...given, endBits: layout.endBitsValue });
      }),
    );
  });

  it('orders IDs by their ticks, whatever lies below', () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        fc.pre(a.tick !== b.tick);
        expect(layout.pack(a) < layout.pack(b)).toBe(a.tick < b.tick);
      }),
    );
  });

  it('gives numbers up to 2^53 - 1 for two months at most', () => {
    expect(layout.safeTicks * layout.unitMs).toBeLessThan(63 * 86_400_000);
    expect(layout.safeUntil!.getTime()).toBe(layout.epochMs + layout.safeTicks * layout.unitMs);
  });

  it('is generated from, up to its end and no further', () => {
    const issuesUntil = Date.parse(row.issuesUntil);
    const from = Math.max(0, issuesUntil - 50 * layout.unitMs);
    const time = new VirtualTime(from);
    const generator = new SnowflakeGenerator({ layout, tenure: new StaticTenure(layout.maxWorkerId) }, time);
    const count = 2 * layout.idsPerTick;
    const ids = generator.nextIds(count);
    expect(new Set(ids).size).toBe(count);
    expect([...ids].sort((a, b) => (a < b ? -1 : 1))).toEqual(ids);
    const [first, last] = [parseId(layout, ids[0]!), parseId(layout, ids.at(-1)!)];
    expect(first).toMatchObject({ time: new Date(from), workerId: layout.maxWorkerId, sequence: 0, clockBack: 0 });
    expect(last.time).toEqual(new Date(from + layout.unitMs));

    time.setWall(issuesUntil - 1);
    const highest = parseId(layout, generator.nextId());
    expect(highest).toMatchObject({ tick: layout.maxTick, endBits: layout.endBitsValue });
    expect(highest.id < 2n ** 63n).toBe(true);
    time.setWall(issuesUntil);
    expect(thrownBy(() => generator.nextId())).toBeInstanceOf(TimestampOverflowError);
    expect(thrownBy(() => generator.nextIds(10))).toBeInstanceOf(TimestampOverflowError);
    expect(parseId(layout, highest.id)).toEqual(highest);
  });

  it('is known again by its fingerprint, by which worker tables compare layouts', () => {
    expect(new Layout(shapeOfFingerprint(layout.fingerprint)!).fingerprint).toBe(layout.fingerprint);
  });

  it('takes a later epoch, and then lasts as much longer', () => {
    const renewed = later(row.name);
    expect(renewed.epochMs).toBe(Date.parse(startTimeStamp));
    expect(renewed.expiresAt!.getTime() - renewed.epochMs).toBe(layout.expiresAt!.getTime() - layout.epochMs);
    expect(renewed.disjointFrom(layout)).toBe(false);
  });

  it('works with a leased worker: over restarts and a clock that goes back no ID comes twice', async () => {
    const renewed = later(row.name);
    const workers = { min: 1, max: 1 };
    const resolved = { layout: renewed, workers, firstLane: 0 as const, minLifetimeDays: 0, warnings: [] };
    const database = new WorkerDatabase('2026-03-01T12:00:00.000Z');
    const ids: bigint[] = [];
    for (let start = 0; start < 3; start++) {
      const { keeper, generator, time } = await KeeperBench.started({ database, resolved });
      ids.push(...generator.nextIds(300));
      time.step(-2_000);
      ids.push(...generator.nextIds(20));
      time.step(-600_000);
      await database.time.advance(5_000);
      // One lane: what was held for maxHoldMs is refused, not flipped.
      expect(thrownBy(() => generator.nextId())).toBeInstanceOf(RaindropError);
      await keeper.close();
      await database.time.advance(60_000);
    }
    expect(ids).toHaveLength(960);
    expect(ids.every((id, index) => index === 0 || id > ids[index - 1]!)).toBe(true);
    expect(ids.every((id) => renewed.unpack(id).clockBack === 0 && renewed.unpack(id).workerId === 1)).toBe(true);
  });
});

/** What is wrong, an option a line. */
function problemsOf(call: () => unknown): string[] {
  return caught(ConfigurationError, call).problems.map(
    ({ option, given, message }) => `${option} = ${given}: ${message}`,
  );
}

const call = (name: keyof typeof presets, options: unknown): unknown => presets[name](options as never);

const simple = ['twitter', 'westid', 'keyWorker', 'discord', 'instagram', 'sonyflake'] as const;

describe('The options of a preset', () => {
  it.each(Object.keys(presets) as (keyof typeof presets)[])('of %s are checked together', (name) => {
    expect(
      problemsOf(() => call(name, { startTimeStamp: 'soon', startTimestamp: 0, datacenterId: 3, node: 1 })),
    ).toEqual(
      expect.arrayContaining([
        `startTimeStamp = "soon": must be an ISO date such as '2024-01-01', a Date or Unix ms`,
        'startTimestamp = (number): is not an option; did you mean startTimeStamp?',
        expect.stringMatching(/^node = \(number\): is not an option/) as string,
      ]),
    );
    expect(problemsOf(() => call(name, null))).toEqual(['options = null: must be an object']);
  });

  it.each(simple)('of %s are the epoch alone', (name) => {
    expect(problemsOf(() => call(name, { sequenceBits: 12 }))).toEqual(['sequenceBits = (number): is not an option']);
    expect(presets[name]({ startTimeStamp: '2026-01-01T08:00:00+08:00' }).epochMs).toBe(Date.UTC(2026, 0, 1));
    expect(presets[name]({ startTimeStamp: new Date(5_000) }).epochMs).toBe(5_000);
    expect(presets[name]({ startTimeStamp: undefined }).fingerprint).toBe(presets[name]().fingerprint);
  });

  it.each([
    [{ timeBits: 29, workerBits: 21 }, 't29.w21.s13'],
    [{ timeBits: 31, workerBits: 20, sequenceBits: 12 }, 't31.w20.s12'],
    [{ sequenceBits: 1, workerBits: 9, timeBits: 53 }, 't53.w9.s1'],
  ])('of uidGenerator share out 63 bits: %j', (options, fields) => {
    expect(presets.uidGenerator(options).fingerprint).toBe(`1000@1463673600:${fields}`);
  });

  const together = 'timeBits, workerBits and sequenceBits must add up to 63';
  it.each([
    [{ timeBits: 29 }, [`timeBits = 29: with workerBits 22 and sequenceBits 13 makes 64 bits: ${together}`]],
    [{ sequenceBits: 12 }, [`timeBits = 28: with workerBits 22 and sequenceBits 12 makes 62 bits: ${together}`]],
    [
      { timeBits: 0, workerBits: '22', sequenceBits: 54 },
      [
        `timeBits = 0: is out of range: must be an integer from 1 to 53; ${together}`,
        `workerBits = "22": must be a number, not a string: use Number(...); ${together}`,
        `sequenceBits = 54: is out of range: must be an integer from 1 to 53; ${together}`,
      ],
    ],
    [{ seqBits: 13 }, ['seqBits = (number): is not an option']],
  ])('of uidGenerator are refused: %j', (options: object, problems) => {
    expect(problemsOf(() => presets.uidGenerator(options))).toEqual(problems);
  });

  it('of uidGeneratorGlobal name the data centre, and share out the other 58 bits', () => {
    const layout = presets.uidGeneratorGlobal({ datacenterId: 31, timeBits: 31, workerBits: 14 });
    expect(layout.fingerprint).toBe('1000@1463673600:t31.e5=31.w14.s13');
    expect(problemsOf(() => call('uidGeneratorGlobal', {}))).toEqual([
      'datacenterId = undefined: is required: an integer from 0 to 31',
    ]);
    expect(problemsOf(() => presets.uidGeneratorGlobal({ datacenterId: 32, timeBits: 30 }))).toEqual([
      'datacenterId = 32: is out of range: must be an integer from 0 to 31',
      'timeBits = 30: with workerBits 17 and sequenceBits 13 makes 60 bits: timeBits, workerBits and sequenceBits ' +
        'must add up to 58',
    ]);
  });

  it.each([0, 1, 8, 10, 20])('of tsid give the node %d bits, and the counter the rest of 22', (nodeBits) => {
    const layout = presets.tsid({ nodeBits });
    expect([layout.bits, layout.maxWorkerId, layout.idsPerTick]).toEqual([64, 2 ** nodeBits - 1, 2 ** (22 - nodeBits)]);
    const parts = { tick: 7, workerId: layout.maxWorkerId, clockBack: 0, sequence: 2 };
    expect(layout.unpack(layout.pack(parts))).toEqual({ ...parts, endBits: 0 });
  });

  it.each([[-1], [21], [1.5], [Number.NaN], ['10']])('of tsid do not give the node %p bits', (nodeBits: unknown) => {
    expect(problemsOf(() => call('tsid', { nodeBits }))).toEqual([
      expect.stringContaining('node and counter must add up to 22 bits'),
    ]);
  });

  it('may name an epoch in the future; then nothing is issued before it', () => {
    const { generator } = new GeneratorBench({
      layout: presets.twitter({ startTimeStamp: '2030-01-01' }),
      wall: '2029-12-31',
    });
    expect(thrownBy(() => generator.nextId())).toBeInstanceOf(ClockBeforeEpochError);
  });
});

/** A process of a data centre, connected to a worker table. */
function process(database: WorkerDatabase, layout: Layout, workers: WorkerRange): Promise<KeeperBench> {
  return KeeperBench.started({
    database,
    resolved: { layout, workers, firstLane: 0, minLifetimeDays: 365, warnings: [] },
  });
}

describe('Two data centres', () => {
  it('of Twitter share a worker table by ranges', async () => {
    const database = new WorkerDatabase();
    const layout = presets.twitter({ startTimeStamp });
    const one = await process(database, layout, { min: 32, max: 63 });
    const two = await process(database, layout, { min: 64, max: 95 });
    const centers = [one, two].map(({ generator }) => layout.unpack(generator.nextId()).workerId >> 5);
    expect(centers).toEqual([1, 2]);
    await Promise.all([one.keeper.close(), two.keeper.close()]);
  });

  it('of uid-generator have a worker table each', async () => {
    const layouts = [3, 4].map((datacenterId) => presets.uidGeneratorGlobal({ datacenterId, startTimeStamp }));
    const workers = { min: 1, max: 1 };
    const [one, two] = await Promise.all(layouts.map((layout) => process(new WorkerDatabase(), layout, workers)));
    const ids = [...one!.generator.nextIds(100), ...two!.generator.nextIds(100)];
    expect(new Set(ids).size).toBe(200);
    expect(new Set(ids.map((id) => layouts[0]!.unpack(id).endBits))).toEqual(new Set([3, 4]));
    await expect(process(one!.database, layouts[1]!, { min: 2, max: 2 })).rejects.toThrow(LayoutConflictError);
    await Promise.all([one!.keeper.close(), two!.keeper.close()]);
  });
});

const NOW = '2026-03-01T12:00:00.000Z';

const sample = 3_200_169_789_968_523_265n;

function resolved(layout: Layout): ResolvedLayout {
  return { layout, workers: { min: 1, max: 3 }, firstLane: 0, minLifetimeDays: 365, warnings: [] };
}

describe.each([
  ['uidGenerator', presets.uidGenerator(), presets.uidGenerator({ startTimeStamp: '2026-01-01' })],
  [
    'uidGeneratorGlobal',
    presets.uidGeneratorGlobal({ datacenterId: 0 }),
    presets.uidGeneratorGlobal({ datacenterId: 0, startTimeStamp: '2026-01-01' }),
  ],
] as const)('A layout that has expired, %s with its own epoch', (_, expired, renewed) => {
  it('reads', () => {
    const { generator } = new GeneratorBench({ layout: expired, wall: NOW });
    expect(generator.parse(sample).time).toEqual(new Date('2019-05-02T23:26:39+08:00'));
  });

  it('issues nothing, whichever call asks', async () => {
    const { generator } = new GeneratorBench({ layout: expired, wall: NOW });
    for (const ask of [
      () => generator.nextId(),
      () => generator.nextString('order'),
      () => generator.nextIds(10),
      () => generator.fill(new BigInt64Array(10)),
    ]) {
      const error = caught(TimestampOverflowError, ask);
      expect(error).toMatchObject({ errorCode: 'TIMESTAMP_OVERFLOW', retryable: false, maxTick: expired.maxTick });
      expect(error.message).toContain('a new table');
    }
    await expect(generator.nextIdAsync()).rejects.toThrow(TimestampOverflowError);
    expect(generator.counters.issued).toBe(0);
  });

  it('issued up to its last second', () => {
    const { generator, time } = new GeneratorBench({ layout: expired, wall: '2024-11-20T13:24:15.999Z' });
    expect(generator.parse(generator.nextId()).time).toEqual(new Date('2024-11-20T13:24:15Z'));
    time.step(1);
    expect(thrownBy(() => generator.nextId())).toBeInstanceOf(TimestampOverflowError);
  });

  it('issues with a later epoch', () => {
    const { generator } = new GeneratorBench({ layout: renewed, wall: NOW });
    expect(generator.parse(generator.nextId()).time).toEqual(new Date(NOW));
  });

  it('does not start on a new worker table', async () => {
    const bench = new KeeperBench({ database: new WorkerDatabase(NOW), resolved: resolved(expired) });
    const error = await bench.keeper.start().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).message).toContain('expires at 2024-11-20T13:24:16.000Z');
    await bench.keeper.close();
  });

  it('issues nothing on a table that it was used with', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 3 }, NOW);
    database.change(1, { layout: expired.fingerprint, code: 'x' });
    const bench = await KeeperBench.started({ database, resolved: resolved(expired) });
    expect(thrownBy(() => bench.generator.nextId())).toBeInstanceOf(TimestampOverflowError);
    expect(bench.generator.refusal()).toBeInstanceOf(TimestampOverflowError);
    await bench.keeper.close();
  });

  it('is told apart before a start', () => {
    const problemsWith = (layout: Layout): readonly ConfigurationProblem[] => {
      const reader = new OptionReader({});
      reportOutsideLife(reader, 'layout', layout, Date.parse(NOW));
      return reader.problems;
    };
    expect(problemsWith(expired)).toMatchObject([{ option: 'layout' }]);
    expect(problemsWith(renewed)).toEqual([]);
  });

  it('starts with a later epoch', async () => {
    const bench = await KeeperBench.started({ database: new WorkerDatabase(NOW), resolved: resolved(renewed) });
    expect(bench.generator.parse(bench.generator.nextId()).time).toEqual(new Date(NOW));
    await bench.keeper.close();
  });
});
