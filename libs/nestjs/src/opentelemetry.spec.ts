import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { diag, type DiagLogger, DiagLogLevel, metrics } from '@opentelemetry/api';
import fc from 'fast-check';
import { ConfigurationError, createLayout, type GeneratorOptions } from '@raindrop/core';
import { MemorySegmentStore, MemorySegmentTable, SegmentGenerator, SnowflakeGenerator } from '@raindrop/core/internal';
import { SegmentEngine, SnowflakeEngine, systemPorts } from '@raindrop/node/internal';
import { CollectedMetrics } from '../../../test/support/module/collected-metrics.js';
import { leaseStatus } from '../../../test/support/module/lease-status.js';
import { IdService } from './id.service.js';
import { type IdServiceMetricsOptions, observeIdService } from './opentelemetry.js';
import { FakeWorker } from './testing/fake-worker.js';

const root = join(__dirname, '../../..');
const START = Date.parse('2026-06-01');

/** A real service of a static worker whose clock is in the test's hands. */
class ServiceBench {
  wall = START;
  monotonic = 0;
  readonly ids: IdService;

  constructor(options: GeneratorOptions = {}, name = 'default') {
    const layout = createLayout({ startTimeStamp: '2026-01-01', timeStampLength: 41, workIdLength: 10 }, START);
    const worker = new FakeWorker(7, 0);
    const ports = {
      ...systemPorts('exact'),
      clock: { now: () => this.wall, refresh: () => this.wall },
      monotonic: { now: () => this.monotonic },
    };
    const generator = new SnowflakeGenerator({ layout, tenure: worker, options }, ports);
    this.ids = new IdService(name, new SnowflakeEngine(generator, worker, { assigner: 'test', guarantee: 'reserved' }));
  }
}

/** A service of numbers from segments of 1,000. */
async function numbersService(name: string, ...codes: string[]): Promise<IdService> {
  const store = new MemorySegmentStore(new MemorySegmentTable());
  const generator = new SegmentGenerator(store, systemPorts('exact'), { prefetchBelow: 0 });
  await generator.start(codes.length > 0 ? codes : ['default']);
  return new IdService(name, new SegmentEngine(generator, undefined, codes));
}

let otel: CollectedMetrics;
let ends: (() => void)[];

beforeEach(() => {
  otel = new CollectedMetrics();
  ends = [];
});

afterEach(async () => {
  jest.restoreAllMocks();
  metrics.disable();
  diag.disable();
  for (const end of ends) end();
  await otel.provider.shutdown();
});

function observe(ids: IdService, options: IdServiceMetricsOptions = {}): () => void {
  const end = observeIdService(ids, { meter: otel.meter, ...options });
  ends.push(end);
  return end;
}

const issuedByCode = (): Record<string, number> => otel.by('raindrop.code', 'raindrop.ids.issued');
const sum = (values: Record<string, number>): number => Object.values(values).reduce((all, each) => all + each, 0);

describe('The counter of issued IDs', () => {
  it('has a series for each code, one without a code, and one for what is left', async () => {
    const { ids } = new ServiceBench();
    ids.nextId('before');
    observe(ids);
    ids.nextIds(3, 'order');
    ids.nextId();
    await otel.collect();
    expect(issuedByCode()).toEqual({ '-': 1, before: 1, order: 3, _OTHER: 0 });
    ids.forCode('order').nextId();
    await otel.collect();
    expect(issuedByCode()).toEqual({ '-': 1, before: 1, order: 4, _OTHER: 0 });
  });

  it('gives labels to the codes that are named and the first ones, and no others', async () => {
    const { ids } = new ServiceBench();
    observe(ids, { codes: ['invoice'], firstCodes: 2 });
    for (const code of ['a', 'b', 'c', 'd', 'invoice']) ids.nextId(code);
    await otel.collect();
    expect(issuedByCode()).toEqual({ '-': 0, a: 1, b: 1, invoice: 1, _OTHER: 2 });
  });

  it('has at most 20 labels by default', async () => {
    const { ids } = new ServiceBench();
    observe(ids);
    for (let code = 0; code < 50; code++) ids.nextId(`code ${code}`);
    await otel.collect();
    expect(Object.keys(issuedByCode())).toHaveLength(22);
    expect(issuedByCode()['_OTHER']).toBe(30);
  });

  it('takes a code that is called _OTHER for one of the others', async () => {
    const { ids } = new ServiceBench();
    observe(ids, { firstCodes: 1 });
    ids.nextId('_OTHER');
    ids.nextId('b');
    await otel.collect();
    expect(issuedByCode()).toEqual({ '-': 0, _OTHER: 2 });
  });

  it('never goes down and always adds up, whichever codes are evicted between collections', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.nat(6) },
      { weight: 1, arbitrary: fc.constant('collect' as const) },
    );
    const property = fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const sdk = new CollectedMetrics();
      const { ids } = new ServiceBench({ maxCodes: 2 });
      const end = observeIdService(ids, { meter: sdk.meter, firstCodes: 3 });
      let last: Record<string, number> = {};
      for (const each of [...steps, 'collect' as const]) {
        if (each !== 'collect') {
          ids.nextId(each === 0 ? undefined : `code ${each}`);
          continue;
        }
        await sdk.collect();
        const now = sdk.by('raindrop.code', 'raindrop.ids.issued');
        for (const [code, count] of Object.entries(last)) expect(now[code]).toBeGreaterThanOrEqual(count);
        expect(sum(now)).toBe(leaseStatus(ids).counters.issued);
        last = now;
      }
      end();
      await sdk.provider.shutdown();
    });
    await fc.assert(property, { seed: 4, numRuns: 60 });
  });

  it('is complete in one collection with more codes than can be looked at in one go', async () => {
    const { ids } = new ServiceBench({ maxCodes: 50_000 });
    observe(ids);
    for (let code = 0; code < 30_000; code++) ids.nextId(`code ${code}`);
    let turns = 0;
    const count = (): void => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await otel.collect();
    clearImmediate(next);
    expect(sum(issuedByCode())).toBe(30_000);
    expect(turns).toBeGreaterThanOrEqual(2);
  });
});

describe('The metrics of a service', () => {
  it('count exhaustion, held lanes and flips', async () => {
    const bench = new ServiceBench({ onExhausted: 'throw', maxHoldMs: 60_000 });
    observe(bench.ids);
    const { idsPerTick } = bench.ids.layout;
    bench.ids.nextIds(idsPerTick);
    expect(() => bench.ids.nextId()).toThrow();
    bench.wall -= 10_000;
    bench.ids.nextId();
    bench.wall -= 10_000;
    bench.ids.nextId();
    await otel.collect();
    const { exhausted, holds, flips } = leaseStatus(bench.ids).counters;
    expect({ flips, holds }).toEqual({ flips: 1, holds: 2 });
    expect(exhausted).toBeGreaterThan(0);
    expect(otel.value('raindrop.ids.exhausted')).toBe(exhausted);
    expect(otel.value('raindrop.clock.flips')).toBe(1);
    expect(otel.value('raindrop.clock.holds')).toBe(2);
  });

  it('say worker, state, codes and days left, and leave out what a static worker has not', async () => {
    const { ids } = new ServiceBench();
    observe(ids);
    ids.nextId('a');
    await otel.collect();
    expect(otel.value('raindrop.worker.id')).toBe(7);
    expect(otel.value('raindrop.codes')).toBe(1);
    expect(otel.value('raindrop.layout.remaining')).toBe(leaseStatus(ids).daysLeft);
    const held = { starting: 0, held: 1, suspect: 0, lost: 0, closed: 0 };
    expect(otel.by('raindrop.lease.state', 'raindrop.lease.state')).toEqual(held);
    expect(otel.names).not.toContain('raindrop.lease.remaining');
    expect(otel.names).not.toContain('raindrop.clock.offset');

    await ids.onApplicationShutdown();
    await otel.collect();
    expect(otel.value('raindrop.worker.id')).toBe(-1);
    expect(otel.by('raindrop.lease.state', 'raindrop.lease.state')).toEqual({ ...held, held: 0, closed: 1 });
  });

  it('count events from 0 on, and take the time of renewals', async () => {
    const { ids } = new ServiceBench();
    observe(ids);
    await otel.collect();
    const none = {
      'lease-lost': 0,
      'lease-regained': 0,
      'lease-suspect': 0,
      'clock-back': 0,
      'database-regression': 0,
    };
    expect(otel.by('raindrop.lease.event', 'raindrop.lease.events')).toEqual(none);
    ids.events.emit('lease-suspect', { type: 'lease-suspect', workerId: 7, reason: 'a test' });
    ids.events.emit('clock-back', { type: 'clock-back', workerId: 7, lane: 1 });
    ids.events.emit('clock-back', { type: 'clock-back', workerId: 7, lane: 0 });
    for (const tookMs of [4, 20, 21]) ids.events.emit('lease-renewed', { type: 'lease-renewed', workerId: 7, tookMs });
    await otel.collect();
    expect(otel.by('raindrop.lease.event', 'raindrop.lease.events')).toEqual({
      ...none,
      'lease-suspect': 1,
      'clock-back': 2,
    });
    const took = otel.histogram('raindrop.lease.renewal.duration')!;
    expect(took).toMatchObject({ count: 3, min: 0.004, max: 0.021 });
    expect(took.sum).toBeCloseTo(0.045);
    const bucket = (upTo: number): number | undefined => took.buckets.counts[took.buckets.boundaries.indexOf(upTo)];
    expect([bucket(0.005), bucket(0.01), bucket(0.025)]).toEqual([1, 0, 2]);
  });

  it('are told apart by service', async () => {
    const [orders, users] = [new ServiceBench({}, 'orders').ids, new ServiceBench({}, 'users').ids];
    observe(orders);
    observe(users);
    orders.nextIds(2);
    users.nextIds(5);
    await otel.collect();
    const plain = otel.data('raindrop.ids.issued')!.dataPoints.filter((each) => !('raindrop.code' in each.attributes));
    const counts = plain.map(({ attributes, value }) => [attributes['raindrop.service'], value]);
    expect(counts).toEqual([
      ['orders', 2],
      ['users', 5],
    ]);
  });

  it('are those that docs/metrics.md lists, with their kinds and units', async () => {
    const { ids } = new ServiceBench();
    const status = leaseStatus(ids);
    jest.spyOn(ids, 'status').mockReturnValue({ ...status, leaseLeftMs: 5_000, clockOffsetMs: 3 });
    observe(ids);
    ids.events.emit('lease-renewed', { type: 'lease-renewed', workerId: 7, tookMs: 1 });
    observe(await numbersService('numbers'));
    await otel.collect();
    const row = /^\| `(raindrop\.[\w.]+)` \| ([\w-]+) \| (\S*) \|/gm;
    const rows = [...readFileSync(join(root, 'docs/metrics.md'), 'utf8').matchAll(row)].map(([, ...cells]) => cells);
    const kinds = otel.names.map((name) => {
      const { descriptor } = otel.data(name)!;
      const { type } = descriptor as unknown as { type: string };
      const kind = type.toLowerCase().replace('observable_', '').replace('up_down_counter', 'up-down');
      return [name, kind, descriptor.unit];
    });
    expect(kinds).toEqual(rows.sort((one, other) => (one[0]! < other[0]! ? -1 : 1)));
  });
});

describe('A service of numbers from segments', () => {
  it('tells what it has issued and what is left, by code', async () => {
    const ids = await numbersService('default', 'order', 'invoice');
    observe(ids, { codes: ['order'], firstCodes: 0 });
    ids.nextIds(10, 'order');
    ids.nextId('invoice');
    expect(() => ids.nextIds(2_000, 'order')).toThrow();
    await otel.collect();
    expect(issuedByCode()).toEqual({ '-': 0, order: 10, _OTHER: 1 });
    expect(otel.by('raindrop.code', 'raindrop.segment.remaining')).toEqual({ order: 990 });
    expect(otel.by('raindrop.segment.outcome', 'raindrop.segment.reservations')).toMatchObject({ failure: 0 });
    // Two of them are the start's, one for each code.
    expect(otel.value('raindrop.segment.starved')).toBe(3);
    expect(otel.value('raindrop.codes')).toBe(2);
  });
});

describe('Observing a service', () => {
  it('twice counts nothing twice, and lasts until both have ended it', async () => {
    const { ids } = new ServiceBench();
    const [first, second] = [observe(ids), observe(ids)];
    ids.nextId('a');
    ids.events.emit('clock-back', { type: 'clock-back', workerId: 7, lane: 1 });
    ids.events.emit('lease-renewed', { type: 'lease-renewed', workerId: 7, tookMs: 1 });
    await otel.collect();
    expect(sum(issuedByCode())).toBe(1);
    expect(otel.by('raindrop.lease.event', 'raindrop.lease.events')['clock-back']).toBe(1);
    expect(otel.histogram('raindrop.lease.renewal.duration')!.count).toBe(1);
    first();
    first();
    const status = jest.spyOn(ids, 'status');
    await otel.collect();
    expect(status).toHaveBeenCalledTimes(1);
    second();
    await otel.collect();
    expect(status).toHaveBeenCalledTimes(1);
    expect(ids.events.eventNames()).toEqual([]);
  });

  it('again, after it was ended, starts anew', async () => {
    const { ids } = new ServiceBench();
    observe(ids)();
    observe(ids);
    ids.nextId();
    await otel.collect();
    expect(issuedByCode()['-']).toBe(1);
  });

  it('goes to each of several meters', async () => {
    const { ids } = new ServiceBench();
    const other = new CollectedMetrics();
    observe(ids);
    observe(ids, { meter: other.meter });
    ids.nextId();
    await Promise.all([otel.collect(), other.collect()]);
    expect([otel, other].map((each) => sum(each.by('raindrop.code', 'raindrop.ids.issued')))).toEqual([1, 1]);
    await other.provider.shutdown();
  });

  it('does nothing without an SDK', () => {
    const { ids } = new ServiceBench();
    const end = observeIdService(ids);
    ids.nextId('a');
    ids.events.emit('lease-renewed', { type: 'lease-renewed', workerId: 7, tookMs: 1 });
    end();
    expect(ids.events.eventNames()).toEqual([]);
  });

  it('goes to the SDK that is registered, under the package’s name and version', () => {
    const getMeter = jest.spyOn(otel.provider, 'getMeter');
    metrics.setGlobalMeterProvider(otel.provider);
    ends.push(observeIdService(new ServiceBench().ids));
    const { name, version } = JSON.parse(readFileSync(join(root, 'libs/nestjs/package.json'), 'utf8')) as {
      name: string;
      version: string;
    };
    expect(getMeter.mock.calls.map(([first, second]) => [first, second])).toEqual([[name, version]]);
  });

  it('lets no error through, neither to the SDK nor to the lease; others are read all the same', async () => {
    const error = jest.fn();
    const logger: DiagLogger = { error, warn: error, info: () => {}, debug: () => {}, verbose: () => {} };
    diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    const [broken, sound] = [new ServiceBench({}, 'broken').ids, new ServiceBench({}, 'sound').ids];
    jest.spyOn(broken, 'status').mockImplementation(() => {
      throw new RangeError('broken on purpose');
    });
    const createHistogram = otel.meter.createHistogram.bind(otel.meter);
    jest.spyOn(otel.meter, 'createHistogram').mockImplementationOnce((...given) => {
      return Object.assign(createHistogram(...given), {
        record: () => {
          throw new RangeError('broken on purpose');
        },
      });
    });
    observe(broken);
    observe(sound);
    broken.events.emit('lease-renewed', { type: 'lease-renewed', workerId: 7, tookMs: 1 });
    await otel.collect();
    expect(otel.by('raindrop.service', 'raindrop.worker.id')).toEqual({ sound: 7 });
    expect(error.mock.calls.map(([message]) => String(message))).toEqual([
      "Raindrop: a renewal of 'broken' could not be recorded",
      "Raindrop: the metrics of 'broken' could not be read",
    ]);
  });

  it('refuses options that make no sense, and observes nothing then', () => {
    const { ids } = new ServiceBench();
    expect(() => observe(ids, { firstCodes: -1 })).toThrow(ConfigurationError);
    expect(() => observe(ids, { maxCodes: 5 } as IdServiceMetricsOptions)).toThrow('maxCodes');
    expect(ids.events.eventNames()).toEqual([]);
    ends.push(observe(ids, { firstCodes: 1 }));
  });
});
