import { ClosedError, LeaseLostError, LeaseSuspectError } from '../lease/lease-errors.js';
import { ManualTenure, thrownBy, tinyLayout } from '../../../../test/support/engine/generator-bench.js';
import { PrefetchBench } from '../../../../test/support/engine/prefetch-bench.js';
import { settle } from '../../../../test/support/engine/virtual-time.js';
import { ManualChanges, RingBench } from '../../../../test/support/engine/ring-bench.js';
import type { LeaseEvent } from '../lease/worker-keeper.js';
import { KeeperBench } from '../../../../test/support/engine/keeper-bench.js';
import { Freshness, RingMemory } from './ring-memory.js';
import { RingCursor } from './ring-cursor.js';
import { SharedIdRing } from './shared-id-ring.js';
import type { RingPorts } from './ring-options.js';
import { SharedIds } from './shared-ids.js';

const SMALL = { boostPower: 0 };

const SLOTS = 8_192;

describe('A ring', () => {
  it('is filled when it is made: 8,192 slots, doubled by boostPower, 65,536 by default', () => {
    for (const [ring, slots] of [
      [undefined, 65_536],
      [{ boostPower: 0 }, 8_192],
      [{ boostPower: 5 }, 262_144],
    ] as const) {
      const bench = new RingBench({ ring });
      expect(bench.ring.status()).toEqual({ state: 'open', left: slots, capacity: slots, taken: 0, rejected: 0, refusal: undefined }); // prettier-ignore
    }
  });

  it('gives IDs in the order in which they were issued, each once, to several takers', () => {
    const bench = new RingBench({ ring: SMALL });
    const takers = [bench.taker(), bench.taker(), bench.taker()];
    const taken = takers.map(() => [] as bigint[]);
    for (let round = 0; round < 2_500; round++) takers.forEach((each, index) => taken[index]!.push(each.nextId()));
    for (const each of taken) expect(each).toEqual([...each].sort((a, b) => (a < b ? -1 : 1)));
    expect(new Set(taken.flat()).size).toBe(7_500);
    expect(bench.ring.status().taken).toBe(3 * Math.ceil(2_500 / 128) * 128);
  });

  it('is filled again when a taker has brought it below the padding factor, and not before', async () => {
    const bench = new RingBench({ ring: { ...SMALL, paddingFactor: 25, run: 1 } });
    const taker = bench.taker();
    taker.nextIds(SLOTS * 0.75);
    await bench.changes.spread();
    expect(bench.ring.status().left).toBe(SLOTS * 0.25);
    taker.nextId();
    await bench.changes.spread();
    expect(bench.ring.status()).toMatchObject({ left: SLOTS, taken: SLOTS * 0.75 + 1 });
  });

  it('is filled again by its own timer where takers cannot wake it', async () => {
    const bench = new RingBench({ ring: SMALL });
    bench.taker().nextIds(SLOTS - 10);
    await bench.time.advance(1_000);
    expect(bench.ring.status().left).toBe(SLOTS);
  });

  it('is filled on a schedule, if there is one', async () => {
    for (const [scheduleInterval, left] of [
      [2, SLOTS],
      [undefined, SLOTS - 128],
    ] as const) {
      const bench = new RingBench({ ring: { ...SMALL, maxAgeMs: 60_000, ...(scheduleInterval ? { scheduleInterval } : {}) } }); // prettier-ignore
      bench.taker().nextId();
      await bench.time.advance(2_100);
      expect(bench.ring.status().left).toBe(left);
    }
  });

  it('goes round its slots for ever', async () => {
    const bench = new RingBench({ ring: SMALL });
    const taker = bench.taker();
    let last = 0n;
    for (let round = 0; round < 40; round++) {
      for (const id of taker.nextIds(5_000)) {
        if (id <= last) throw new Error(`${id} after ${last}`);
        last = id;
      }
      await bench.changes.spread();
      await bench.time.advance(10);
    }
    expect(bench.ring.status().taken).toBeGreaterThan(20 * SLOTS);
  });

  it('shares one code with the generator: no ID is issued by both', () => {
    const bench = new RingBench({ ring: SMALL });
    const direct = bench.generator.nextIds(1_000);
    const shared = bench.taker().nextIds(1_000);
    expect(new Set([...direct, ...shared]).size).toBe(2_000);
  });

  it('has no ID from outside what the worker has reserved', async () => {
    const limit = { tick: 1_000_000_000, sequence: 999 };
    const tenure = new ManualTenure({ limit: [limit, limit] });
    const bench = new RingBench({ ring: SMALL, tenure });
    expect(bench.ring.status()).toMatchObject({ left: 1_000, refusal: { errorCode: 'RESERVATION_EXHAUSTED' } });
    expect(tenure.requests).toContain('extension');
    tenure.change({ limit: [{ ...limit, sequence: 2_999 }, limit] });
    bench.ring.lookSoon();
    await bench.time.advance(0);
    expect(bench.ring.status().left).toBe(3_000);
    expect(
      bench
        .taker()
        .nextIds(3_000)
        .map((id) => bench.generator.layout.unpack(id).sequence),
    ).toEqual(Array.from({ length: 3_000 }, (_, index) => index));
  });

  it('is filled little by little where ticks are small, and leaves half of each to the service', async () => {
    const bench = new RingBench({ ring: SMALL, layout: tinyLayout({ sequenceBits: 4 }) });
    const { ring, generator, time } = bench;
    expect(ring.status()).toMatchObject({ left: 8, state: 'open', refusal: undefined });
    const direct: bigint[] = [];
    for (let tick = 1; tick <= 1_023; tick++) {
      direct.push(...generator.nextIds(8));
      await time.advance(1);
      expect(ring.status().left).toBe(8 + tick * 8);
    }
    await time.advance(10);
    expect(ring.status()).toMatchObject({ left: SLOTS, refusal: undefined });
    expect(new Set([...direct, ...bench.taker().nextIds(SLOTS)]).size).toBe(2 * SLOTS - 8);
  });

  it('leaves nothing to the service while it is filled with all of each tick: the negative control', async () => {
    const bench = new RingBench({ ring: { ...SMALL, tickShare: 1 }, layout: tinyLayout({ sequenceBits: 4 }) });
    const { ring, generator, time } = bench;
    let refused = 0;
    for (let tick = 1; tick <= 100; tick++) {
      await time.advance(1);
      if (generator.refusal() === undefined) generator.nextIds(1);
      else refused++;
    }
    expect(refused).toBeGreaterThan(0);
    expect(ring.status().left).toBeGreaterThan(100 * 14);
  });

  it('never runs empty while old IDs are replaced, however small the ticks are', async () => {
    const bench = new RingBench({ ring: SMALL, layout: tinyLayout({ sequenceBits: 4 }) });
    await bench.time.advance(3_000);
    for (let ms = 0; ms < 12_000; ms += 50) {
      expect(bench.ring.status().left).toBeGreaterThan(SLOTS - 20);
      await bench.time.advance(50);
    }
    expect(bench.ring.status().rejected).toBeGreaterThan(SLOTS);
  });

  it('waits while the service has used up the tick', async () => {
    const bench = new RingBench({ ring: SMALL, layout: tinyLayout({ sequenceBits: 4 }) });
    bench.generator.nextIds(88);
    await bench.time.advance(1);
    expect(bench.ring.status()).toMatchObject({ left: 16, refusal: undefined });
    bench.generator.nextIds(8);
    bench.ring.lookSoon();
    await bench.time.advance(0);
    expect(bench.ring.status()).toMatchObject({ left: 16, state: 'open' });
    await bench.time.advance(2_000);
    expect(bench.ring.status()).toMatchObject({ left: SLOTS, refusal: undefined });
  });

  it('holds no more than an eighth of what the layout can issue in maxAgeMs', async () => {
    const bench = new RingBench({ layout: tinyLayout({ unitMs: 1_000, sequenceBits: 10, timeBits: 40 }) });
    expect(bench.ring.status().capacity).toBe(1_280);
    await bench.time.advance(3_000);
    expect(bench.ring.status().left).toBe(1_280);
  });

  it('leaves something for every thread where it is small', () => {
    const bench = new RingBench({ layout: tinyLayout({ sequenceBits: 2, unitMs: 1_000 }), ring: { maxAgeMs: 60_000 } });
    expect(bench.ring.handle).toMatchObject({ capacity: 30, run: 1, lowWater: 15 });
  });

  it('takes smaller slices where maxBatch is small', () => {
    const bench = new RingBench({ ring: SMALL, generator: { maxBatch: 100 } });
    expect(bench.ring.status().left).toBe(SLOTS);
  });
});

describe('The times of IDs', () => {
  it('are true: nothing is ever handed out that is older than maxAgeMs, at whatever pace', async () => {
    for (const pauseMs of [1, 7, 300, 2_000, 9_000, 40_000]) {
      const bench = new RingBench({ ring: { ...SMALL, maxAgeMs: 2_000 } });
      const taker = bench.taker();
      for (let round = 0; round < 60; round++) {
        const ageMs = bench.ageOf(taker.nextId());
        expect({ pauseMs, ageMs, isTrue: ageMs >= -5 && ageMs <= 2_000 }).toMatchObject({ isTrue: true });
        await bench.time.advance(pauseMs);
      }
    }
  });

  it('are replaced when no thread takes them, before takers would have to skip them', async () => {
    const bench = new RingBench({ ring: SMALL });
    await bench.time.advance(60_000);
    const { left, rejected, taken } = bench.ring.status();
    expect({ left, taken }).toEqual({ left: SLOTS, taken: 0 });
    expect(rejected % SLOTS).toBe(0);
    expect(rejected / SLOTS).toBeGreaterThanOrEqual(9);
    const taker = bench.taker();
    expect(bench.ageOf(taker.nextId())).toBeLessThanOrEqual(6_000);
    expect(taker.status().skipped).toBe(0);
  });

  it('are looked at again when a run is handed out slowly', async () => {
    const bench = new RingBench({ ring: SMALL });
    const taker = bench.taker();
    taker.nextId();
    await bench.time.advance(30_000);
    expect(bench.ageOf(taker.nextId())).toBeLessThanOrEqual(6_000);
    expect(taker.status()).toMatchObject({ taken: 2, skipped: 127 });
  });

  it('are skipped where the producer stood still: then the ring is as good as empty', () => {
    const bench = new RingBench({ ring: { ...SMALL, maxAgeMs: 1_000, producerTimeoutMs: 60_000 } });
    const taker = bench.taker();
    bench.time.freeze(1_002);
    expect(thrownBy(() => taker.nextId())).toMatchObject({ errorCode: 'RING_EMPTY' });
    expect(taker.status()).toMatchObject({ skipped: SLOTS, left: 0 });
  });

  it('would be as old as the ring without that: the negative control', () => {
    const bench = new RingBench({ ring: { ...SMALL, maxAgeMs: 1_000, producerTimeoutMs: 60_000 } });
    const memory = new RingMemory(bench.ring.handle.buffer);
    const patient = new Freshness(bench.generator.layout, 3_600_000);
    const cursor = new RingCursor(memory, bench.ring.handle, patient, bench.ports());
    bench.time.freeze(50_000);
    expect(cursor.refusal()).toBeUndefined();
    expect(bench.ageOf(cursor.take())).toBe(50_000);
  });

  it('may lie ahead of a clock that went back, by maxAgeMs at most', async () => {
    const bench = new RingBench({ ring: SMALL });
    const taker = bench.taker();
    const before = taker.nextId();
    bench.time.step(-3_600_000);
    await bench.time.advance(1_000);
    const after = taker.nextId();
    expect(Math.abs(bench.ageOf(after))).toBeLessThanOrEqual(10_000);
    expect(bench.generator.parse(after).clockBack).not.toBe(bench.generator.parse(before).clockBack);
  });

  it('count from the end of their tick: an hour is fresh while it lasts', async () => {
    const bench = new RingBench({ layout: tinyLayout({ unitMs: 3_600_000, sequenceBits: 30, timeBits: 26 }) });
    bench.time.setWall(1_000 * 3_600_000 + 3_500_000);
    await bench.time.advance(60_000);
    expect(bench.taker().nextId()).toBeGreaterThan(0n);
  });
});

describe('A producer that may not issue', () => {
  it('empties the ring, gives takers its error, and opens again by itself, behind everything before', async () => {
    const bench = new RingBench({ ring: SMALL });
    const taker = bench.taker();
    const before = taker.nextIds(100);
    bench.tenure.change({ refusal: new LeaseLostError(1, 'another process took it') });
    await bench.time.advance(1_000);
    expect(thrownBy(() => taker.nextId())).toMatchObject({
      errorCode: 'RING_FAILED',
      producerCode: 'LEASE_LOST',
      retryable: true,
    });
    expect(taker.refusal()?.message).toContain('another process took it');
    expect(bench.ring.status()).toMatchObject({ state: 'failed', left: 0, refusal: { errorCode: 'LEASE_LOST' } });
    bench.tenure.change({ refusal: undefined });
    await bench.time.advance(100);
    expect(bench.ring.status()).toMatchObject({ state: 'open', left: SLOTS, refusal: undefined });
    expect(taker.nextId()).toBeGreaterThan(before.at(-1)! + BigInt(SLOTS - 200));
    expect(taker.status().skipped).toBe(28);
  });

  it('tells of its failure in full when that changes, and cuts it where it is too long', async () => {
    const bench = new RingBench({ ring: SMALL });
    const taker = bench.taker();
    for (const reason of ['short', 'ümläut – 中文', 'x'.repeat(2_000)]) {
      bench.ring.discard(new LeaseSuspectError(1, reason));
      expect(taker.refusal()).toMatchObject({ producerCode: 'LEASE_SUSPECT' });
      expect(taker.refusal()?.message).toContain(reason.slice(0, 200));
      await bench.time.advance(1);
      expect(taker.refusal()).toBeUndefined();
    }
  });

  it('for a while and has put nothing in: takers hear why, not that the ring is empty', async () => {
    const layout = tinyLayout({ sequenceBits: 4, timeBits: 38, clockBack: false });
    const bench = new RingBench({ ring: SMALL, layout, generator: { onClockBack: 'throw' } });
    const taker = bench.taker();
    taker.nextId();
    bench.time.step(-3_600_000);
    await bench.time.advance(6_000);
    thrownBy(() => taker.nextIds(SLOTS));
    await bench.time.advance(2_000);
    expect(taker.refusal()).toMatchObject({
      errorCode: 'RING_FAILED',
      producerCode: 'CLOCK_MOVED_BACK',
      retryable: true,
    });
    bench.time.step(3_600_000);
    await bench.time.advance(2_000);
    expect(taker.refusal()).toBeUndefined();
  });

  it.each([
    ['some', () => PrefetchBench.started(), 64],
    ['none', () => Promise.resolve(new PrefetchBench()), 0],
  ])('because its own IDs have yet to come stays open and loses nothing, with %s at hand', async (_, begin, left) => {
    const bench = await begin();
    bench.source.faultFor = () => ({ kind: 'slow', thereMs: 10, backMs: 10 });
    const source = {
      layout: tinyLayout({ sequenceBits: 20, timeBits: 38 }),
      fill: (target: BigInt64Array) => bench.ids.fill(target),
      refusal: () => bench.ids.refusal(),
    };
    const told: unknown[] = [];
    const { clock, monotonic, timers } = bench.time;
    const ports = { clock, monotonic, timers, changes: new ManualChanges(), warn: (line: string) => told.push(line) };
    const ring = new SharedIdRing(source, { ...SMALL, onPutRejected: (each) => told.push(each) }, ports);
    expect(ring.status()).toMatchObject({ state: 'open', left, refusal: { errorCode: 'IDS_NOT_READY' } });
    for (let ms = 0; ms < 500; ms += 10) {
      expect(ring.status().state).toBe('open');
      await bench.time.advance(10);
    }
    expect(ring.status().left).toBeGreaterThan(64);
    expect(told).toEqual([]);
    ring.close();
    bench.ids.close();
  });

  it('that was closed closes the ring', async () => {
    const bench = new RingBench({ ring: SMALL });
    const taker = bench.taker();
    bench.tenure.change({ refusal: new ClosedError() });
    await bench.time.advance(1_000);
    expect(thrownBy(() => taker.nextId())).toMatchObject({ errorCode: 'RING_CLOSED', retryable: false });
    expect(bench.time.pending.size).toBe(0);
  });

  it('discards in the middle of filling: what was just issued is not published', async () => {
    const bench = new RingBench({ ring: SMALL });
    const { generator, ring } = bench;
    const fill = generator.fill.bind(generator);
    const issued: bigint[] = [];
    jest.spyOn(generator, 'fill').mockImplementation((target, code) => {
      issued.push(...fill(target, code));
      if (issued.length < 3 * SLOTS) ring.discard(new LeaseSuspectError(1, 'a look at the clock'));
      return target;
    });
    ring.discard(new LeaseSuspectError(1, 'before'));
    await bench.time.advance(50);
    expect(issued.length).toBeGreaterThan(2 * SLOTS);
    expect(bench.taker().nextId()).toBeGreaterThan(issued[2 * SLOTS]!);
  });

  it('is missed when it is silent: its deadline counts by both clocks', async () => {
    const bench = new RingBench({ ring: SMALL });
    const taker = bench.taker();
    bench.time.freeze(4_990);
    expect(taker.refusal()).toBeUndefined();
    bench.time.freeze(20);
    expect(thrownBy(() => taker.nextId())).toMatchObject({ errorCode: 'RING_PRODUCER_LOST', retryable: true });
    await bench.time.advance(1);
    expect(taker.refusal()).toBeUndefined();
    // A copy of this process, woken later: time has not passed for it.
    bench.time.step(6_000);
    expect(taker.refusal()).toMatchObject({ errorCode: 'RING_PRODUCER_LOST' });
    await bench.time.advance(1_000);
    expect(taker.refusal()).toBeUndefined();
  });

  it('leaves no timer and no listener behind when it is closed, and takers end at once', async () => {
    const bench = new RingBench({ ring: SMALL });
    const taker = bench.taker();
    taker.nextId();
    bench.ring.close();
    bench.ring.close();
    bench.ring.lookSoon();
    bench.ring.discard(new LeaseSuspectError(1, 'too late'));
    expect(thrownBy(() => taker.nextId())).toMatchObject({ errorCode: 'RING_CLOSED' });
    await bench.changes.spread();
    expect(bench.changes.listening).toBe(0);
    expect(bench.time.pending.size).toBe(0);
    expect(bench.ring.status()).toMatchObject({ state: 'closed', left: 0 });
  });

  it('says once when it is closed, also when it never was open', () => {
    const bench = new RingBench({ ring: SMALL });
    const closed: SharedIdRing[] = [];
    const onClosed = (ring: SharedIdRing): void => void closed.push(ring);
    const ring = new SharedIdRing(bench.generator, SMALL, bench.ports(), onClosed);
    ring.close();
    ring.close();
    expect(closed).toEqual([ring]);
    bench.tenure.change({ refusal: new ClosedError() });
    const still = new SharedIdRing(bench.generator, SMALL, bench.ports(), onClosed);
    expect(closed).toEqual([ring, still]);
  });
});

describe('IDs that are thrown away', () => {
  it('are logged when the producer failed, and not when they were merely old', async () => {
    const bench = new RingBench({ ring: SMALL });
    await bench.time.advance(10_000);
    expect(bench.warnings).toEqual([]);
    bench.ring.discard(new LeaseLostError(1, 'gone'));
    expect(bench.warnings).toEqual([
      expect.stringMatching(/^The ring was emptied and 8192 IDs were discarded: .*gone/),
    ]);
  });

  it('are told to a function in place of the log; what that throws is logged', async () => {
    const told: unknown[] = [];
    const onPutRejected = (rejection: unknown): void => {
      told.push(rejection);
      if (told.length === 4) throw new Error('no');
    };
    const bench = new RingBench({ ring: { ...SMALL, onPutRejected } });
    await bench.time.advance(6_000);
    bench.ring.discard(new LeaseLostError(1, 'gone'));
    await bench.time.advance(1);
    bench.ring.close();
    expect(told).toEqual([
      { reason: 'aged', count: 4_096 },
      { reason: 'aged', count: 4_096 },
      { reason: 'failed', count: 8_192 },
      { reason: 'closed', count: 8_192 },
    ]);
    expect(bench.warnings).toEqual(['onPutRejected threw: Error: no']);
  });

  it.each<[unknown, string]>([
    [new Error('no'), 'Error: no'],
    // It has no toString.
    [Object.create(null), 'an object'],
  ])('are told to an async function too: what it rejects with is logged', async (reason, words) => {
    const onPutRejected = async (): Promise<void> => {
      await Promise.resolve();
      throw reason;
    };
    const bench = new RingBench({ ring: { ...SMALL, onPutRejected } });
    bench.ring.close();
    await settle();
    expect(bench.warnings).toEqual([`onPutRejected rejected: ${words}`]);
  });
});

describe('The options of a ring', () => {
  it.each([
    [{ boostPower: 11 }, 'boostPower = 11: is out of range: must be an integer from 0 to 10'],
    [{ paddingFactor: 0 }, 'paddingFactor = 0: is out of range: must be an integer from 1 to 99; a percentage'],
    [{ scheduleInterval: 0.5 }, 'scheduleInterval = 0.5: must be an integer from 1 to 86400; in seconds'],
    [{ maxAgeMs: 99 }, 'maxAgeMs = 99: is out of range'],
    [{ producerTimeoutMs: '5' }, 'producerTimeoutMs = "5": must be a number'],
    [{ run: 0 }, 'run = 0: is out of range'],
    [{ tickShare: 50 }, "tickShare = 50: must be a number from 0 to 1: a share of a tick's sequences"],
    [{ code: '' }, 'code = "": must be a string of 1 to 128 characters'],
    [{ onPutRejected: 'log' }, 'onPutRejected = "log": must be a function'],
    [{ boostpower: 3 }, 'boostpower = (number): is not an option; did you mean boostPower?'],
  ])('are refused: %p', (ring, message) => {
    expect(() => new RingBench({ ring: ring as never })).toThrow(message);
  });
});

function portsOf({ time }: KeeperBench): RingPorts {
  const { clock, monotonic, timers } = time;
  return { clock, monotonic, timers, changes: new ManualChanges(), warn: () => {} };
}

/** A process with a leased worker and a ring, told of the lease's events or not. */
async function process(options: { database?: KeeperBench['database']; isTold?: boolean } = {}): Promise<{
  bench: KeeperBench;
  ring: SharedIdRing;
  taker: SharedIds;
}> {
  const onEvent = (event: LeaseEvent): void => {
    if (event.type !== 'lease-suspect' || options.isTold === false) return;
    ring.discard(new LeaseSuspectError(event.workerId, event.reason));
  };
  const { database } = options;
  const layout = { serviceMaxWorkId: 1 };
  const bench = await KeeperBench.started({ layout, ...(database === undefined ? {} : { database }), onEvent });
  const ring: SharedIdRing = new SharedIdRing(bench.generator, { boostPower: 0 }, portsOf(bench));
  return { bench, ring, taker: new SharedIds(ring.handle, undefined, portsOf(bench)) };
}

/** Everything a ring still gives. */
function drain(taker: SharedIds): bigint[] {
  const ids: bigint[] = [];
  while (taker.refusal() === undefined) ids.push(taker.nextId());
  return ids;
}

const shared = (some: readonly bigint[], others: readonly bigint[]): number => {
  const known = new Set(others);
  return some.filter((id) => known.has(id)).length;
};

describe('A worker that is given back while its ring is full', () => {
  it('leaves an odometer behind all of it: the next holder of the row repeats no ID, though threads take on', async () => {
    const first = await process();
    const before = drain(first.taker).slice(0, 100);
    await first.bench.time.advance(1_000);
    await first.bench.keeper.close();
    const next = await process({ database: first.bench.database });
    expect(next.bench.workerId).toBe(1);
    // The ring has not heard of it yet.
    const meanwhile = drain(first.taker);
    expect(meanwhile).toHaveLength(8_192);
    expect(shared(drain(next.taker), [...before, ...meanwhile])).toBe(0);
    await first.bench.time.advance(1_000);
    expect(first.taker.refusal()).toMatchObject({ errorCode: 'RING_CLOSED' });
  });
});

describe('A process that was copied with its ring', () => {
  /** The copy finds out and confirms its lease, all before its ring's next beat. The original gives all it had. */
  async function afterCopy(isTold: boolean, restore: (bench: KeeperBench) => void): Promise<number> {
    const { bench, ring, taker } = await process({ isTold });
    taker.nextIds(100);
    const original = new SharedArrayBuffer(ring.handle.buffer.byteLength);
    new Uint8Array(original).set(new Uint8Array(ring.handle.buffer));
    const theirs = drain(new SharedIds({ ...ring.handle, buffer: original }, undefined, portsOf(bench)));
    expect(theirs.length).toBeGreaterThan(8_000);
    restore(bench);
    await bench.time.advance(1);
    bench.generator.refusal();
    await bench.time.advance(100);
    expect(bench.generator.refusal()).toBeUndefined();
    const ours = drain(taker);
    expect(ours.length).toBeGreaterThan(1_000);
    return shared(ours, theirs);
  }

  it.each([
    ['sees it by itself', (bench: KeeperBench): void => void bench.processId++],
    ['is told of it', (bench: KeeperBench): void => bench.keeper.afterRestore()],
  ])('and %s gives nothing of what it was copied with', async (_, restore) => {
    expect(await afterCopy(true, restore)).toBe(0);
    // The negative control: a ring that is not told of the suspicion, which is over before it looks.
    expect(await afterCopy(false, restore)).toBeGreaterThan(8_000);
  });
});
