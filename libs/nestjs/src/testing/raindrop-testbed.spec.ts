import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ClockBeforeEpochError,
  ClockMovedBackError,
  ClosedError,
  ConfigurationError,
  createLayout,
  InvalidPartError,
  SequenceExhaustedError,
  WaitTimeoutError,
  LeaseLostError,
  LeaseSuspectError,
} from '@raindrop/core';
import fc from 'fast-check';
import { runs } from '../../../../test/tier.js';
import { createTestIdService, type RaindropTestbed } from './raindrop-testbed.js';
import type { TestIdServiceOptions } from './testing.options.js';

/** Two IDs in a tick. */
const TINY: TestIdServiceOptions = { timeStampLength: 50, onExhausted: 'wait' };

function storyOf({ ids }: RaindropTestbed): unknown[] {
  const story: unknown[] = [];
  for (const name of ['lease-lost', 'lease-regained', 'lease-released', 'clock-back'] as const) {
    ids.events.on(name, (event: object) => story.push(event));
  }
  return story;
}

describe('A testbed', () => {
  it('issues these IDs, in every run and on every machine', async () => {
    const { ids, clock } = createTestIdService();
    expect(ids.nextString()).toBe('67815815617970176');
    expect(ids.nextId()).toBe(67815815617970178n);
    expect(ids.nextStrings(2)).toEqual(['67815815617970180', '67815815617970182']);
    expect(ids.nextString('invoice')).toBe('67815815617970176');
    await clock.advance(1_000);
    expect(await ids.nextIdAsync()).toBe(67815816691712000n);
    clock.set('2026-11-21T05:06:58Z');
    expect(ids.forCode('invoice').nextId()).toBe(97893490919211008n);
    expect(ids.parse(97893490919211008n)).toMatchObject({ time: new Date('2026-11-21T05:06:58Z'), workerId: 1 });
  });

  it('has IDs past 2^53, so that code that loses digits fails its tests', () => {
    expect(createTestIdService().ids.nextId()).toBeGreaterThan(2n ** 53n);
  });

  it('makes the same random choices anew', () => {
    const firsts = (): string[] => {
      const bed = createTestIdService({ sequenceStart: 'random' });
      const [before] = bed.ids.nextStrings(1);
      bed.clock.set('2026-01-02');
      const [after] = bed.ids.nextStrings(1);
      bed.reset();
      expect(bed.ids.nextString()).toBe(before);
      return [before!, after!];
    };
    expect(firsts()).toEqual(firsts());
    expect(firsts()).toEqual(['67815815618001168', '67908586911612176']);
  });

  it('takes layout, worker id, name and start', () => {
    const { ids, clock } = createTestIdService({
      name: 'orders',
      workerId: 9,
      now: '2026-05-06T07:08:09Z',
      timeUnit: 'millisecond',
      timeStampLength: 42,
      startTimeStamp: '2026-05-06',
      workIdLength: 5,
      endBitsLength: 2,
      endBitsValue: 3,
      timeBackBitValue: 1,
    });
    expect(clock.now()).toBe(Date.UTC(2026, 4, 6, 7, 8, 9));
    expect(ids.parse(ids.nextId())).toMatchObject({ tick: 25_689_000, workerId: 9, clockBack: 1, endBits: 3 });
    expect(ids.status()).toMatchObject({ service: 'orders', state: 'held', workerId: 9, lane: 1 });
  });

  it('takes a ready layout, and the options of production as they are', () => {
    const layout = createLayout({ startTimeStamp: '2020-01-01', timeStampLength: 33, workIdLength: 4 }, Date.now());
    expect(createTestIdService({ layout, workerId: 15 }).ids.layout).toBe(layout);
    const production = { serviceMinWorkId: 8, dbConfig: 'mysql://db/app', leaseMs: 30_000, tableName: 'workers' };
    expect(createTestIdService(production).ids.workerId).toBe(8);
    expect(createTestIdService({ workerIdAssigner: 'static', workerId: 3 }).ids.workerId).toBe(3);
  });

  it('starts a year after the epoch of a late layout, whatever the real clock says', () => {
    expect(createTestIdService({ startTimeStamp: '2099-01-01' }).clock.now()).toBe(Date.UTC(2100, 0, 1));
    expect(createTestIdService({ startTimeStamp: '2025-01-01' }).clock.now()).toBe(Date.UTC(2026, 0, 1));
  });

  it.each([
    [{ startTimeStmp: '2024-01-01' }, 'did you mean startTimeStamp?'],
    [{ isGlobal: true }, 'isGlobal'],
    [{ workerId: 1_024 }, 'from 1 to 1023'],
    [{ now: 'yesterday' }, 'now = "yesterday"'],
    [{ now: '2023-01-01' }, 'is in the future'],
    [{ layout: {} }, 'createLayout()'],
    [{ timeUnit: 'millisecond' }, 'from 41 to 55'],
    [{ leaseMs: 1 }, 'leaseMs'],
  ])('refuses %j', (options, says) => {
    expect(() => createTestIdService(options as TestIdServiceOptions)).toThrow(ConfigurationError);
    expect(() => createTestIdService(options as TestIdServiceOptions)).toThrow(says);
  });

  it('fills large async batches without the clock being moved', async () => {
    const { ids } = createTestIdService();
    expect(new Set(await ids.nextIdsAsync(20_000)).size).toBe(20_000);
  });

  it('needs no test runner', () => {
    const sources = readdirSync(__dirname, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /(?<!spec)\.ts$/.test(file),
    );
    const imports = sources.flatMap((file) =>
      [...readFileSync(join(__dirname, file), 'utf8').matchAll(/ from '([^.][^']*)'/g)].map((match) => match[1]),
    );
    expect([...new Set(imports)].sort()).toEqual([
      '@nestjs/common',
      '@raindrop/core',
      '@raindrop/core/internal',
      '@raindrop/node',
      '@raindrop/node/internal',
      'node:worker_threads',
    ]);
  });
});

describe('The clock of a testbed', () => {
  it('lets a used-up tick be waited for', async () => {
    const { ids, clock } = createTestIdService(TINY);
    ids.nextIds(2);
    expect(() => ids.nextId()).toThrow(SequenceExhaustedError);
    let waited: bigint | undefined;
    const waits = ids.nextIdAsync().then((id) => (waited = id));
    await clock.advance(999);
    expect(waited).toBeUndefined();
    await clock.advance(1);
    expect(ids.parse(waited!).time).toEqual(new Date('2026-01-01T00:00:01Z'));
    await waits;
  });

  it('moves on where a call waits for a second and no test moves it', async () => {
    const { ids } = createTestIdService(TINY);
    const made = (await Promise.all([ids.nextIdsAsync(5), ids.nextIdAsync()])).flat();
    expect(ids.parse(made.sort().at(-1)!).time).toEqual(new Date('2026-01-01T00:00:02Z'));
  });

  it('moves on until a call that waits for a lease times out', async () => {
    const bed = createTestIdService();
    bed.loseLease();
    jest.useFakeTimers();
    try {
      await expect(bed.ids.nextIdAsync()).rejects.toThrow(WaitTimeoutError);
    } finally {
      jest.useRealTimers();
    }
  });

  it('wakes those who wait when it is set', async () => {
    const { ids, clock } = createTestIdService(TINY);
    ids.nextIds(2);
    const waits = ids.nextIdAsync();
    clock.set('2026-01-01T00:01:00Z');
    expect(ids.parse(await waits).time).toEqual(new Date('2026-01-01T00:01:00Z'));
  });

  it('times a wait out', async () => {
    const { ids, clock } = createTestIdService(TINY);
    ids.nextIds(2);
    const waits = ids.nextIdAsync(undefined, { timeoutMs: 500 });
    const rejected = expect(waits).rejects.toThrow(WaitTimeoutError);
    await clock.advance(10_000);
    await rejected;
  });

  it('going back moves to the other lane, and is told', async () => {
    const bed = createTestIdService();
    const story = storyOf(bed);
    const before = bed.ids.nextId();
    bed.clock.set('2025-12-31');
    const after = bed.ids.nextId();
    expect(after).toBeLessThan(before);
    expect(bed.ids.parse(after)).toMatchObject({ time: new Date('2025-12-31'), clockBack: 1 });
    expect(bed.ids.status()).toMatchObject({ lane: 1, counters: { flips: 1 } });
    await bed.clock.advance(0);
    expect(story).toEqual([{ type: 'clock-back', workerId: 1, lane: 1 }]);
  });

  it('going back is told when the call is over: a listener may ask for IDs, and none comes twice', async () => {
    const { ids, clock } = createTestIdService({ timeStampLength: 50, onExhausted: 'throw' });
    const issued = ids.nextIds(2);
    ids.events.on('clock-back', () => issued.push(ids.nextId()));
    clock.set('2025-12-31');
    expect(() => ids.nextIds(3)).toThrow(SequenceExhaustedError);
    issued.push(ids.nextId());
    await clock.advance(0);
    expect(issued).toHaveLength(4);
    expect(new Set(issued).size).toBe(4);
  });

  it('going back once more is told once more', async () => {
    const bed = createTestIdService();
    const story = storyOf(bed);
    for (const second of ['10', '05', '20', '15']) {
      bed.clock.set(`2026-01-01T00:00:${second}Z`);
      bed.ids.nextId();
    }
    await bed.clock.advance(0);
    expect(story).toEqual([
      { type: 'clock-back', workerId: 1, lane: 1 },
      { type: 'clock-back', workerId: 1, lane: 0 },
    ]);
  });

  it('going back behind both lanes holds, then refuses until it has caught up', async () => {
    const { ids, clock } = createTestIdService({ timeStampLength: 49, onExhausted: 'throw' });
    const seconds = (second: number): void => clock.set(Date.UTC(2026, 0, 1, 0, 0, second));
    for (const second of [40, 30, 20]) {
      seconds(second);
      ids.nextId();
    }
    expect(ids.nextId()).toBeDefined();
    await clock.advance(3_001);
    expect(() => ids.nextId()).toThrow(ClockMovedBackError);
    const waits = ids.nextIdAsync();
    await clock.advance(7_000);
    expect(ids.parse(await waits)).toMatchObject({ time: new Date('2026-01-01T00:00:30Z'), clockBack: 1 });
  });

  it('before the epoch is refused', () => {
    const { ids, clock } = createTestIdService();
    clock.set('2023-12-31');
    expect(() => ids.nextId()).toThrow(ClockBeforeEpochError);
  });
});

describe('The lease of a testbed', () => {
  it('can be lost: calls throw, status and events say so', () => {
    const bed = createTestIdService();
    const story = storyOf(bed);
    bed.loseLease('the row was taken');
    bed.loseLease('again');
    expect(() => bed.ids.nextId()).toThrow(LeaseLostError);
    expect(() => bed.ids.forCode('invoice').nextString()).toThrow('the row was taken');
    expect(bed.ids.refusal()).toMatchObject({ errorCode: 'LEASE_LOST', workerId: 1, reason: 'the row was taken' });
    expect(bed.ids.status()).toMatchObject({ state: 'lost', workerId: undefined, leaseLeftMs: 0, failures: 1 });
    expect(bed.ids.status().lastError).toBeInstanceOf(LeaseLostError);
    expect(bed.ids.workerId).toBeUndefined();
    expect(story).toEqual([{ type: 'lease-lost', workerId: 1, reason: 'the row was taken' }]);
  });

  it('can be regained: calls that waited go on', async () => {
    const bed = createTestIdService();
    const first = bed.ids.nextId();
    bed.loseLease();
    const story = storyOf(bed);
    const waits = bed.ids.nextIdAsync();
    await bed.clock.advance(5_000);
    bed.clock.set('2026-01-01');
    bed.regainLease();
    bed.regainLease();
    expect(await waits).toBe(first + 2n);
    expect(bed.ids.status()).toMatchObject({ state: 'held', workerId: 1, renewals: 1, lastError: undefined });
    expect(story).toEqual([{ type: 'lease-regained', workerId: 1 }]);
  });

  it('can be regained under another worker id, also when it was not lost before', () => {
    const bed = createTestIdService();
    const story = storyOf(bed);
    bed.regainLease(7);
    expect(bed.ids.parse(bed.ids.nextId()).workerId).toBe(7);
    expect(story).toEqual([
      { type: 'lease-lost', workerId: 1, reason: 'another worker id is taken' },
      { type: 'lease-regained', workerId: 7 },
    ]);
    expect(() => bed.regainLease(1_024)).toThrow(InvalidPartError);
    expect(bed.ids.workerId).toBe(7);
  });

  it('stays on its lane when the clock went back before it was lost', async () => {
    const bed = createTestIdService();
    bed.ids.nextId();
    bed.clock.set('2025-12-31');
    const back = bed.ids.nextId();
    await bed.clock.advance(0);
    const story = storyOf(bed);
    bed.loseLease();
    bed.regainLease();
    expect(bed.ids.nextId()).toBe(back + 2n);
    await bed.clock.advance(0);
    expect(story.map((event) => (event as { type: string }).type)).toEqual(['lease-lost', 'lease-regained']);
  });

  it('ends at shutdown', async () => {
    const bed = createTestIdService();
    const story = storyOf(bed);
    await bed.ids.onApplicationShutdown();
    await bed.ids.onApplicationShutdown();
    bed.reset();
    bed.loseLease();
    bed.regainLease();
    expect(() => bed.ids.nextId()).toThrow(ClosedError);
    expect(bed.ids.status()).toMatchObject({ state: 'closed', workerId: undefined });
    expect(story).toEqual([{ type: 'lease-released', workerId: 1 }]);
  });

  it('is not given back at shutdown when it is lost', async () => {
    const bed = createTestIdService();
    bed.loseLease();
    const story = storyOf(bed);
    await bed.ids.onApplicationShutdown();
    expect(story).toEqual([]);
  });

  it('reports a listener that throws as a warning, as in production', () => {
    const bed = createTestIdService();
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    bed.ids.events.on('lease-lost', () => {
      throw new TypeError('oops');
    });
    bed.loseLease();
    expect(warn).toHaveBeenCalledWith(`A listener of 'lease-lost' threw: oops`, 'RaindropWarning');
    warn.mockRestore();
  });
});

describe('A testbed that refuses', () => {
  it('throws the error it was given, and lets async calls wait for one that is retryable', async () => {
    const bed = createTestIdService();
    bed.refuseWith(new LeaseSuspectError(1, 'a test'));
    expect(() => bed.ids.nextId()).toThrow(LeaseSuspectError);
    expect(bed.ids.status()).toMatchObject({
      state: 'held',
      leaseLeftMs: 0,
      lastError: { errorCode: 'LEASE_SUSPECT' },
    });
    const waits = bed.ids.nextStringAsync();
    bed.refuseWith();
    expect(await waits).toBe('67815815617970176');
    bed.refuseWith(new ClosedError());
    await expect(bed.ids.nextStringAsync()).rejects.toThrow(ClosedError);
  });
});

describe('A testbed that is reset', () => {
  it('issues the first IDs again, after whatever was done to it', async () => {
    const bed = createTestIdService();
    const first = bed.ids.nextIds(3, 'invoice');
    bed.ids.nextId();
    bed.clock.set('2025-12-31');
    bed.ids.nextIds(5, 'invoice');
    await bed.clock.advance(60_000);
    bed.clock.set('2026-02-01');
    bed.regainLease(5);
    bed.ids.nextIds(2, 'invoice');
    bed.regainLease(6);
    bed.loseLease();
    bed.refuseWith(new ClosedError());

    bed.reset();
    expect(bed.clock.now()).toBe(Date.UTC(2026, 0, 1));
    expect(bed.ids.status()).toMatchObject({ state: 'held', workerId: 1, lane: 0, renewals: 0, failures: 0 });
    expect(bed.ids.nextIds(3, 'invoice')).toEqual(first);
    expect(bed.ids.nextId()).toBe(first[0]);
    bed.regainLease(5);
    expect(bed.ids.parse(bed.ids.nextId('invoice'))).toMatchObject({ clockBack: 0, sequence: 0 });
  });
});

describe('Uniqueness', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('next' as const), code: fc.constantFrom(undefined, 'a', 'b', 'c') }),
    fc.record({
      do: fc.constant('many' as const),
      code: fc.constantFrom(undefined, 'a'),
      count: fc.integer({ min: 1, max: 9 }),
    }),
    fc.record({ do: fc.constant('set' as const), second: fc.integer({ min: 0, max: 12 }) }),
    fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 4_000 }) }),
    fc.record({ do: fc.constant('lose' as const) }),
    fc.record({ do: fc.constant('regain' as const), workerId: fc.constantFrom(undefined, 1, 2) }),
  );

  it('no ID comes twice for a code, whatever is done to clock and lease', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
        const bed = createTestIdService({ timeStampLength: 50, endBitsLength: 0, maxCodes: 2 });
        const issued: string[] = [];
        for (const each of steps) {
          try {
            if (each.do === 'next') issued.push(`${each.code} ${bed.ids.nextId(each.code)}`);
            else if (each.do === 'many')
              issued.push(...bed.ids.nextIds(each.count, each.code).map((id) => `${each.code} ${id}`));
            else if (each.do === 'set') bed.clock.set(Date.UTC(2026, 0, 1, 0, 0, each.second));
            else if (each.do === 'advance') await bed.clock.advance(each.ms);
            else if (each.do === 'lose') bed.loseLease();
            else bed.regainLease(each.workerId);
          } catch (error) {
            expect(error).toHaveProperty('retryable', true);
          }
        }
        expect(new Set(issued).size).toBe(issued.length);
      }),
      { seed: 4, numRuns: runs(300) },
    );
  });
});
