import fc from 'fast-check';
import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import { StaticTenure } from '../generator/tenure.js';
import { InvalidIdError } from '../codec/id-codec.js';
import { TimestampOverflowError } from '../layout/layout-errors.js';
import { Layout, parseId, shapeOfFingerprint } from '../layout/layout.js';
import { RaindropError } from '../raindrop-error.js';
import { thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
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
