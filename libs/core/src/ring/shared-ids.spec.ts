import { LeaseLostError, LeaseSuspectError } from '../lease/lease-errors.js';
import { ManualTenure, thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { settle } from '../../../../test/support/engine/virtual-time.js';
import { LateCursor, RingBench } from '../../../../test/support/engine/ring-bench.js';
import { RingBatch, RingCursor } from './ring-cursor.js';
import { SharedIds } from './shared-ids.js';
import { Freshness, RingMemory } from './ring-memory.js';

/** A ring with 100 IDs, and a way to grant as many as it holds. */
function scarce(): { bench: RingBench; grant: () => void } {
  const limit = { tick: 1_000_000_000, sequence: 99 };
  const tenure = new ManualTenure({ limit: [limit, limit] });
  const bench = new RingBench({ ring: { boostPower: 0 }, tenure });
  return { bench, grant: () => tenure.change({ limit: new ManualTenure().limit }) };
}

describe('A taker', () => {
  it('gives IDs one by one and many at once, as bigints and as text', () => {
    const taker = new RingBench({ ring: { boostPower: 0 } }).taker();
    const first = taker.nextId();
    expect(taker.nextString()).toBe(String(first + 1n));
    expect(taker.nextIds(2)).toEqual([first + 2n, first + 3n]);
    expect(taker.fill(new BigInt64Array(2))).toEqual(BigInt64Array.of(first + 4n, first + 5n));
    expect(taker.parse(first)).toMatchObject({ id: first, workerId: 1 });
    expect(taker.status()).toEqual({ state: 'open', left: 8_064, taken: 6, skipped: 0, rejected: 0 });
  });

  it('refuses an empty ring, and a batch that is not whole: its IDs are lost, never given again', () => {
    const { bench } = scarce();
    const taker = bench.taker();
    const target = new BigInt64Array(101);
    expect(thrownBy(() => taker.fill(target))).toMatchObject({ errorCode: 'RING_EMPTY', retryable: true });
    expect(target.every((id) => id === 0n)).toBe(true);
    expect(() => taker.nextId()).toThrow('The ring of 8192 IDs is empty');
    expect(taker.status().rejected).toBe(2);
  });

  it.each([0, -1, 1.5, 8_193, Number.NaN])('refuses a batch of %p', async (count) => {
    const taker = new RingBench({ ring: { boostPower: 0 } }).taker();
    expect(thrownBy(() => taker.nextIds(count))).toMatchObject({ errorCode: 'INVALID_BATCH' });
    await expect(taker.nextIdsAsync(count)).rejects.toMatchObject({ errorCode: 'INVALID_BATCH' });
  });

  it('waits for IDs without a word when asked to, and goes on as soon as there are some', async () => {
    const { bench, grant } = scarce();
    const taker = bench.taker();
    const waiting = taker.nextIdsAsync(150);
    const alsoWaiting = taker.nextStringAsync();
    await bench.time.advance(500);
    grant();
    await bench.time.advance(10);
    await bench.changes.spread();
    const ids = await waiting;
    expect(new Set([...ids, BigInt(await alsoWaiting)]).size).toBe(151);
    expect(bench.warnings).toEqual([]);
  });

  it('waits for a producer that has failed, and gives up when it is closed', async () => {
    const bench = new RingBench({ ring: { boostPower: 0 } });
    const taker = bench.taker();
    bench.tenure.change({ refusal: new LeaseLostError(1, 'gone') });
    await bench.time.advance(1_000);
    const waiting = taker.nextIdAsync();
    await bench.time.advance(500);
    bench.tenure.change({ refusal: undefined });
    await bench.time.advance(200);
    expect(typeof (await waiting)).toBe('bigint');

    bench.tenure.change({ refusal: new LeaseLostError(1, 'gone') });
    await bench.time.advance(1_000);
    const hopeless = expect(taker.nextIdAsync()).rejects.toMatchObject({ errorCode: 'RING_CLOSED' });
    bench.ring.close();
    await bench.changes.spread();
    await hopeless;
  });

  it('waits no longer than it is told to', async () => {
    const { bench } = scarce();
    const taker = bench.taker();
    taker.nextIds(100);
    const late = expect(taker.nextIdAsync({ timeoutMs: 250 })).rejects.toMatchObject({
      errorCode: 'WAIT_TIMEOUT',
      cause: { errorCode: 'RING_FAILED', producerCode: 'RESERVATION_EXHAUSTED' },
    });
    const controller = new AbortController();
    const aborted = expect(taker.nextIdAsync({ signal: controller.signal })).rejects.toBe('enough');
    await bench.time.advance(100);
    controller.abort('enough');
    await aborted;
    await bench.time.advance(150);
    await late;
    await expect(taker.nextIdAsync({ timeoutMs: -1 })).rejects.toMatchObject({ errorCode: 'INVALID_TIMEOUT' });
  });

  it('hears of what came between its look and its listening', async () => {
    const { bench, grant } = scarce();
    const taker = bench.taker();
    taker.nextIds(100);
    const waiting = taker.nextIdAsync();
    grant();
    bench.ring.lookSoon();
    await bench.time.advance(0);
    await bench.changes.spread();
    await settle();
    expect(typeof (await waiting)).toBe('bigint');
  });
});

describe('A batch that waits', () => {
  const SLOTS = 8_192;

  /** A process is copied while a batch of its thread waits for the rest; how many IDs the batches of both have. */
  async function sharedWithCopy(): Promise<number> {
    const bench = new RingBench({ ring: { boostPower: 0 } });
    bench.taker().nextIds(SLOTS - 384);
    const buffer = new SharedArrayBuffer(bench.ring.handle.buffer.byteLength);
    new Uint8Array(buffer).set(new Uint8Array(bench.ring.handle.buffer));
    const theirs = new SharedIds({ ...bench.ring.handle, buffer }, undefined, bench.ports()).nextIds(384);
    const waiting = bench.taker().nextIdsAsync(1_000, { timeoutMs: 60_000 });
    await settle();
    bench.ring.discard(new LeaseSuspectError(1, 'a snapshot'));
    await bench.changes.spread();
    await bench.time.advance(500);
    const ids = await waiting;
    expect(new Set(ids).size).toBe(1_000);
    return ids.filter((id) => theirs.includes(id)).length;
  }

  it('gives nothing of what it had gathered before its ring was emptied', async () => {
    expect(await sharedWithCopy()).toBe(0);
    const dropStale = jest.spyOn(RingBatch.prototype, 'dropStale').mockReturnValue(0);
    // The negative control.
    expect(await sharedWithCopy()).toBe(384);
    dropStale.mockRestore();
  });

  it('gives nothing that has become too old while it waited, and counts it as skipped', async () => {
    const bench = new RingBench({ ring: { boostPower: 0 } });
    bench.taker().nextIds(SLOTS - 384);
    const taker = bench.taker();
    const waiting = taker.nextIdsAsync(1_000, { timeoutMs: 120_000 });
    await settle();
    bench.time.freeze(20_000);
    await bench.time.advance(500);
    await bench.changes.spread();
    await bench.time.advance(5_000);
    expect(bench.ageOf((await waiting)[0]!)).toBeLessThan(10_000);
    expect(taker.status()).toMatchObject({ taken: 1_000, skipped: 384 });
  });

  it('lets others have a turn of the event loop after each 1,024 IDs', async () => {
    const bench = new RingBench({ ring: { boostPower: 0 } });
    const taker = bench.taker();
    const waiting = taker.nextIdsAsync(4_000);
    const seen: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      await settle();
      seen.push(taker.status().taken);
      await bench.time.advance(0);
    }
    expect(seen[0]).toBe(1_024);
    expect((await waiting).length).toBe(4_000);
  });
});

describe('A taker whose clock is shared by many calls', () => {
  function sharing(): { bench: RingBench; taker: SharedIds; endTurn: () => void } {
    const bench = new RingBench({ ring: { boostPower: 0, run: 4 } });
    let endTurn = (): void => {};
    const share = (stale: () => void): number => {
      endTurn = stale;
      return 256;
    };
    const taker = bench.taker(undefined, { clock: { ...bench.time.clock, share } });
    return { bench, taker, endTurn: () => endTurn() };
  }

  it('looks at deadline and age when the turn has ended, or after 256 calls', () => {
    for (const calls of [0, 255]) {
      const { bench, taker, endTurn } = sharing();
      taker.nextId();
      bench.time.freeze(5_001);
      for (let call = 0; call < calls; call++) taker.nextId();
      if (calls === 0) endTurn();
      else taker.nextId();
      for (let call = 0; call < 3; call++) expect(taker.refusal()).toMatchObject({ errorCode: 'RING_PRODUCER_LOST' });
    }
  });

  it('looks at the state at every call', async () => {
    const { bench, taker } = sharing();
    taker.nextId();
    bench.ring.discard(new LeaseLostError(1, 'gone'));
    for (let call = 0; call < 6; call++) expect(taker.refusal()).toMatchObject({ errorCode: 'RING_FAILED' });
    await bench.time.advance(1);
    expect(taker.nextId()).toBeGreaterThan(0n);
    bench.ring.close();
    for (let call = 0; call < 6; call++) expect(taker.refusal()).toMatchObject({ errorCode: 'RING_CLOSED' });
  });
});

describe('A rejected take', () => {
  it('is logged at most once a second, with how many there were', async () => {
    const { bench } = scarce();
    const taker = bench.taker();
    taker.nextIds(100);
    for (let call = 0; call < 50; call++) thrownBy(() => taker.nextId());
    await bench.time.advance(1_000);
    thrownBy(() => taker.nextId());
    expect(bench.warnings).toEqual([
      expect.stringMatching(/^1 takes from the ring were rejected; the last: The ring of 8192 IDs is empty/),
      expect.stringMatching(/^50 takes/),
    ]);
  });

  it('is told to a function in place of the log: what it throws is thrown, else the error', () => {
    const { bench } = scarce();
    const told: unknown[] = [];
    const quiet = bench.taker({ onTakeRejected: (error) => void told.push(error) });
    quiet.nextIds(100);
    const thrown = thrownBy(() => quiet.nextId());
    expect(told).toEqual([thrown]);
    const own = new Error('of the application');
    const loud = bench.taker({
      onTakeRejected: () => {
        throw own;
      },
    });
    expect(thrownBy(() => loud.nextId())).toBe(own);
    expect(bench.warnings).toEqual([]);
  });

  it('is told to an async function too: what it rejects with is logged, once a second, and reaches no other caller', async () => {
    const { bench } = scarce();
    const taker = bench.taker({ onTakeRejected: () => Promise.reject(new Error('no')) });
    taker.nextIds(100);
    for (let call = 0; call < 5; call++) {
      expect(thrownBy(() => taker.nextId())).toMatchObject({ errorCode: 'RING_EMPTY' });
    }
    await settle();
    await bench.time.advance(1_000);
    thrownBy(() => taker.nextId());
    await settle();
    expect(bench.warnings).toEqual([
      'onTakeRejected rejected 1 times, the last time: Error: no',
      'onTakeRejected rejected 5 times, the last time: Error: no',
    ]);
  });
});

describe('What a taker is made of', () => {
  it.each([[undefined], [null], ['ring'], [{}], [{ version: 1, buffer: new ArrayBuffer(4_096) }]])(
    'is refused when it is no handle: %p',
    (handle) => {
      const bench = new RingBench({ ring: { boostPower: 0 } });
      Object.defineProperty(bench.ring, 'handle', { value: handle });
      expect(() => bench.taker()).toThrow('must be the handle of a SharedIdRing of this process and version');
    },
  );

  it.each([
    [{ asyncTimeoutMs: 0 }, 'asyncTimeoutMs = 0: is out of range'],
    [{ onTakeRejected: true }, 'onTakeRejected = true: must be a function'],
    [{ timeout: 5 }, 'timeout = (number): is not an option'],
  ])('is refused when its options are wrong: %p', (options, message) => {
    const bench = new RingBench({ ring: { boostPower: 0 } });
    expect(() => bench.taker(options as never)).toThrow(message);
  });

  it.each([
    [{ run: 0 }, 'handle.run = 0: is out of range: must be an integer from 1 to 1024'],
    [{ run: 1e9 }, 'handle.run = 1000000000: is out of range'],
    [{ run: undefined }, 'handle.run = undefined: is required'],
    [{ capacity: -1 }, 'handle.capacity = -1: is out of range: must be an integer from 1 to 8192'],
    [{ capacity: 8_193 }, 'handle.capacity = 8193: is out of range'],
    [{ lowWater: Number.NaN }, 'handle.lowWater = NaN: must be an integer'],
    [{ maxAgeMs: undefined }, 'handle.maxAgeMs = undefined: is required'],
    [{ layout: undefined }, 'handle.layout = undefined: is not the shape of a layout'],
    [{ layout: {} }, 'handle.layout = an object: is not the shape of a layout'],
    [{ slots: 5 }, 'handle.slots = (number): is not an option'],
  ])('is refused when its handle was changed: %p', (change, message) => {
    const bench = new RingBench({ ring: { boostPower: 0 } });
    const handle = { ...bench.ring.handle, ...change } as typeof bench.ring.handle;
    expect(() => new SharedIds(handle, undefined, bench.ports())).toThrow(message);
  });

  it('can be cloned into another thread', () => {
    const { handle } = new RingBench({ ring: { boostPower: 0 } }).ring;
    expect(structuredClone(handle)).toEqual(handle);
  });
});

/** A thread that is put to sleep around the moment in which it moves the head, while others go on. */
class SleepyMemory extends RingMemory {
  before: () => void = () => {};
  after: () => void = () => {};

  override moveHead(from: number, to: number): boolean {
    const { before, after } = this;
    this.before = this.after = (): void => {};
    before();
    const isMoved = super.moveHead(from, to);
    after();
    return isMoved;
  }
}

/**
 * One taker falls asleep; another empties the ring, the producer fills it anew, over the slots that the first one is
 * about to take, and the other takes those as well. Then the first one wakes up.
 * @returns every ID that the two got
 */
function overtaken(Cursor: typeof RingCursor, asleep: 'before' | 'after', rounds: number): bigint[] {
  const bench = new RingBench({ ring: { boostPower: 0 } });
  const { handle } = bench.ring;
  const memory = new SleepyMemory(handle.buffer);
  const slow = new Cursor(memory, handle, new Freshness(bench.generator.layout, handle.maxAgeMs), bench.ports());
  const fast = bench.taker();
  const taken: bigint[] = [];
  memory[asleep] = (): void => {
    for (let round = 0; round < rounds; round++) {
      taken.push(...fast.nextIds(bench.ring.status().left));
      // Refilled by the same thread, with what the next tick has.
      bench.time.freeze(1);
      bench.ring['work']();
    }
  };
  for (let count = 0; count < 3 * handle.run && slow.refusal() === undefined; count++) taken.push(slow.take());
  while (fast.refusal() === undefined) taken.push(...fast.nextIds(1));
  return taken;
}

const repeated = (ids: readonly bigint[]): number => ids.length - new Set(ids).size;

describe('A taker that is overtaken', () => {
  it.each([1, 2, 3, 7])('by %d whole rounds repeats no ID, wherever it was interrupted', (rounds) => {
    for (const asleep of ['before', 'after'] as const) {
      const ids = overtaken(RingCursor, asleep, rounds);
      expect(ids.length).toBeGreaterThan(rounds * 8_000);
      expect(repeated(ids)).toBe(0);
    }
  });

  it.each([1, 2, 3])(
    'and reads after it has moved the head, repeats IDs: the negative control, %d rounds',
    (rounds) => {
      expect(repeated(overtaken(LateCursor, 'after', rounds))).toBe(128);
    },
  );
});
