import { thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import type { Fault } from '../../../../test/support/engine/fault-store.js';

const ONE_ROW: KeeperBenchOptions = { layout: { serviceMaxWorkId: 1 } };

const SLOW: Fault = { kind: 'slow', thereMs: 100, backMs: 100 };

const started = (options: KeeperBenchOptions = {}): Promise<KeeperBench> =>
  KeeperBench.started({ ...ONE_ROW, ...options });

/** Closes, and lets the time pass that it takes. */
async function closed(bench: KeeperBench, withinMs = 30_000): Promise<void> {
  let isClosed = false;
  const closing = bench.keeper.close().then(() => (isClosed = true));
  for (let passed = 0; passed < withinMs && !isClosed; passed += 100) await bench.advance(100);
  expect(isClosed).toBe(true);
  await closing;
}

/** The process is gone without a trace, and its row is free. */
function expectReleased(bench: KeeperBench): void {
  expect(bench.database.row(1)).toMatchObject({ token: '' });
  expectGone(bench);
}

function expectGone(bench: KeeperBench): void {
  expect(bench.refusal()).toBe('CLOSED');
  expect(bench.keeper.status()).toMatchObject({ state: 'closed', workerId: undefined, leaseLeftMs: 0 });
  expect(bench.store.isClosed).toBe(true);
  expect(bench.time.pending.size).toBe(0);
}

describe('a row that is given back', () => {
  it('is free at once and says what was really issued, by all codes together', async () => {
    const bench = await started();
    const found = bench.database.row(1).odometers;
    for (let count = 0; count < 3; count++) bench.issue();
    for (let count = 0; count < 5; count++) bench.issue('orders');
    bench.issue('users');
    const { wall } = bench.time;
    await bench.keeper.close();
    expectReleased(bench);
    expect(bench.database.row(1)).toMatchObject({
      version: 2,
      ownVersion: 2,
      lane: 0,
      leaseUntilMs: wall,
      odometers: [{ ms: wall, sequence: 4 }, found[1]],
    });
    expect(bench.story).toEqual(['lease-acquired', 'lease-released']);
  });

  it('says so of both lanes', async () => {
    const bench = await started();
    const first = bench.time.wall;
    bench.issue();
    bench.time.step(-5_000);
    bench.issue();
    await bench.advance(20);
    expect(bench.next()).toMatch(/:1:0$/);
    const second = bench.time.wall;
    await bench.keeper.close();
    expect(bench.database.row(1)).toMatchObject({
      lane: 1,
      odometers: [
        { ms: first, sequence: 1 },
        { ms: second, sequence: 0 },
      ],
    });
  });

  it('is as it was found when nothing was issued, also after many renewals', async () => {
    const database = new WorkerDatabase();
    const before = await started({ database });
    before.issue();
    await before.keeper.close();
    const { odometers, lane } = database.row(1);
    const bench = await started({ database });
    await bench.advance(100_000);
    await bench.keeper.close();
    expect(database.row(1)).toMatchObject({ odometers, lane, token: '' });
  });

  it('remembers what a code issued that has been evicted', async () => {
    const bench = await started({ generator: { maxCodes: 1 } });
    for (let count = 0; count < 9; count++) bench.issue('evicted');
    bench.issue('another');
    const { wall } = bench.time;
    await bench.keeper.close();
    expect(bench.database.row(1).odometers[0]).toMatchObject({ ms: wall });
    expect(bench.database.row(1).odometers[0].sequence).toBeGreaterThanOrEqual(8);
  });

  it('remembers a tick that was borrowed ahead of the clock', async () => {
    const database = new WorkerDatabase();
    const layout = { serviceMaxWorkId: 1, timeStampLength: 55 };
    const bench = await started({ database, layout });
    const ids = bench.generator.nextIds(50);
    expect(ids).toHaveLength(50);
    await bench.keeper.close();
    expect(database.row(1).odometers[0].ms).toBeGreaterThan(bench.time.wall);
    const next = await started({ database, layout });
    await database.advance(100);
    expect(ids).not.toContain(next.issue());
  });

  it('serves the next process in the same millisecond, with larger IDs', async () => {
    const database = new WorkerDatabase();
    const all: bigint[] = [];
    for (let process = 0; process < 100; process++) {
      const bench = await started({ database });
      for (let count = 0; count < 3; count++) all.push(bench.issue());
      await bench.keeper.close();
    }
    expect(all.every((id, index) => index === 0 || id > all[index - 1]!)).toBe(true);
  });
});

describe('after close() nothing is issued', () => {
  it('not even in the same turn, while the release is still on its way', async () => {
    const bench = await started();
    const code = bench.generator.forCode('orders');
    bench.issue();
    code.nextId();
    const closing = bench.keeper.close();
    expect(bench.refusal()).toBe('CLOSED');
    expect(thrownBy(() => code.nextId())).toMatchObject({ errorCode: 'CLOSED', retryable: false });
    await expect(bench.generator.nextIdAsync()).rejects.toMatchObject({ errorCode: 'CLOSED' });
    await closing;
    expect(bench.refusal()).toBe('CLOSED');
  });

  it('and a caller that waits is told', async () => {
    const bench = new KeeperBench(ONE_ROW);
    const waiting = expect(bench.generator.nextIdAsync()).rejects.toMatchObject({ errorCode: 'CLOSED' });
    await bench.keeper.close();
    await waiting;
    expectGone(bench);
  });

  it('and no renewal is made', async () => {
    const bench = await started();
    await bench.keeper.close();
    const calls = bench.store.calls.length;
    bench.keeper.requestExtension();
    bench.keeper.requestFlip(1);
    bench.keeper.afterRestore();
    await bench.advance(600_000);
    expect(bench.store.calls).toHaveLength(calls);
  });
});

describe('close()', () => {
  it('called twice, or a hundred times, is one release', async () => {
    const bench = await started();
    const closings = Array.from({ length: 100 }, () => bench.keeper.close());
    expect(new Set(closings).size).toBe(1);
    await Promise.all(closings);
    await bench.keeper.close();
    expect(bench.store.writes).toHaveLength(2);
  });

  it('before any start makes a start impossible', async () => {
    const bench = new KeeperBench(ONE_ROW);
    await bench.keeper.close();
    await expect(bench.keeper.start()).rejects.toMatchObject({ errorCode: 'CLOSED' });
    expect(bench.store.calls).toEqual([]);
    expectGone(bench);
  });

  it.each(['prepare', 'readSample', 'write', 'readAgain', 'rememberLayout'] as const)(
    'during a start that is at %s ends it and leaves the row free',
    async (call) => {
      const bench = new KeeperBench(ONE_ROW);
      bench.store.next(call, SLOW);
      const failing = expect(bench.keeper.start()).rejects.toMatchObject({ errorCode: 'CLOSED' });
      await bench.advance(50);
      expect(bench.store.calls.at(-1)).toBe(call);
      await closed(bench);
      await failing;
      expectReleased(bench);
      expect(bench.story).not.toContain('lease-acquired');
      expect(bench.database.row(1).odometers[0]).toEqual({ ms: 0, sequence: -1 });
    },
  );

  it.each(['prepare', 'readSample', 'write', 'readAgain', 'rememberLayout'] as const)(
    'during a start whose %s is never answered ends within two seconds, and so does the start',
    async (call) => {
      const bench = new KeeperBench(ONE_ROW);
      // Nothing that comes after it is answered, either.
      const server = { isSilent: false };
      bench.store.faultFor = (each) => {
        server.isSilent ||= each === call;
        return server.isSilent ? { kind: 'hangs' } : undefined;
      };
      const failing = expect(bench.keeper.start()).rejects.toMatchObject({ errorCode: 'CLOSED' });
      await bench.advance(50);
      expect(bench.store.calls.at(-1)).toBe(call);
      await closed(bench, 2_000);
      await failing;
      expectGone(bench);
    },
  );

  it('during probation ends the start and leaves the row free', async () => {
    const bench = new KeeperBench({ ...ONE_ROW, lease: { commitLossWindowMs: 20_000 } });
    const failing = expect(bench.keeper.start()).rejects.toMatchObject({ errorCode: 'CLOSED' });
    await bench.advance(5_000);
    await closed(bench, 200);
    await failing;
    expectReleased(bench);
  });

  it.each([
    { how: 'is slow', fault: SLOW },
    { how: 'hangs', fault: { kind: 'hangs' } },
    { how: 'loses its answer', fault: { kind: 'answer-lost' } },
    { how: 'is refused', fault: { kind: 'refused' } },
    { how: 'is executed after the release', fault: { kind: 'ghost', afterMs: 3_500 } },
    { how: 'is executed before the release', fault: { kind: 'ghost', afterMs: 2_900 } },
  ] as const)('during a renewal whose write $how leaves the row free, at what was issued', async ({ fault }) => {
    const bench = await started();
    bench.issue();
    bench.store.next('write', fault);
    bench.keeper.requestExtension();
    await bench.advance(30);
    const last = bench.issue();
    const issuedAt = bench.time.wall;
    await closed(bench);
    await bench.advance(5_000);
    expectReleased(bench);
    expect(bench.database.row(1).odometers[0]).toEqual({ ms: issuedAt, sequence: 0 });
    const next = await started({ database: bench.database });
    expect(next.issue()).toBeGreaterThan(last);
  });

  it('during a renewal that reads for a long time waits for it, at most for its deadline', async () => {
    const bench = await started();
    bench.store.next('readRow', { kind: 'hangs' });
    bench.keeper.requestExtension();
    await bench.advance(30);
    await closed(bench, 3_200);
    expectReleased(bench);
  });
});

describe('a release', () => {
  it.each<{ how: string; faults: Fault[] }>([
    { how: 'refused once', faults: [{ kind: 'refused' }] },
    { how: 'without an answer', faults: [{ kind: 'answer-lost' }] },
    { how: 'that hangs once', faults: [{ kind: 'hangs' }] },
    { how: 'executed at its second deadline', faults: [{ kind: 'ghost', afterMs: 2_999 }] },
  ])('$how is made good by a second look', async ({ faults }) => {
    const bench = await started();
    const last = bench.issue();
    bench.store.next('write', ...faults);
    await closed(bench);
    expectReleased(bench);
    expect(bench.story.at(-1)).toBe('lease-released');
    const next = await started({ database: bench.database });
    expect(next.issue()).toBeGreaterThan(last);
  });

  it.each(['refused', 'hangs'] as const)('that fails for good (%s) ends the process all the same', async (kind) => {
    const bench = await started();
    const last = bench.issue();
    bench.store.faultFor = () => ({ kind });
    await closed(bench, 13_000);
    expectGone(bench);
    expect(bench.story).toEqual(['lease-acquired']);
    expect(bench.database.row(1).token).not.toBe('');
    await bench.advance(120_000);
    const next = await started({ database: bench.database });
    expect(next.issue()).toBeGreaterThan(last);
  });

  it('leaves a row alone that another process has by now', async () => {
    const bench = await started();
    bench.issue();
    const theft = { token: 'of another', version: 9, ownVersion: 9, leaseUntilMs: bench.time.wall + 60_000 };
    bench.database.change(1, theft);
    await bench.keeper.close();
    expect(bench.database.row(1)).toMatchObject(theft);
    expect(bench.story).toEqual(['lease-acquired']);
  });

  it('whose own ghost comes late does not touch the next holder', async () => {
    const bench = await started();
    const last = bench.issue();
    bench.store.next('write', { kind: 'ghost', afterMs: 10_000 });
    await closed(bench, 4_000);
    const next = await started({ database: bench.database });
    const { token } = bench.database.row(1);
    await bench.advance(8_000);
    expect(bench.database.row(1).token).toBe(token);
    expect(next.issue()).toBeGreaterThan(last);
  });

  it('that finds the database back in the past never undercuts what was issued', async () => {
    const bench = await started();
    const past = bench.database.snapshot();
    await bench.advance(30_000);
    const last = bench.issue();
    bench.database.restore(past);
    await closed(bench);
    expectReleased(bench);
    expect((await started({ database: bench.database })).issue()).toBeGreaterThan(last);
  });
});

const LISTENERS: readonly (readonly [how: string, listener: () => unknown])[] = [
  [
    'throw',
    () => {
      throw new Error('pager is down');
    },
  ],
  ['reject', () => Promise.reject(new Error('pager is down'))],
  [
    'answer what throws when it is looked at',
    () =>
      Object.defineProperty({}, 'then', {
        get: () => {
          throw new Error('pager is down');
        },
      }),
  ],
];

describe('Listeners of a lease', () => {
  const unhandled = jest.fn();
  beforeAll(() => process.on('unhandledRejection', unhandled));
  afterAll(() => process.off('unhandledRejection', unhandled));

  it.each(LISTENERS)('that %s end no renewals, no start and no release', async (_, listener) => {
    const bench = new KeeperBench({ layout: { serviceMaxWorkId: 1 }, onEvent: listener });
    bench.keeper.onChange(listener);
    await bench.keeper.start();
    await bench.advance(30_000);
    bench.store.faultFor = () => ({ kind: 'refused' });
    await bench.advance(90_000);
    expect(bench.keeper.status().state).toBe('lost');
    bench.store.faultFor = () => undefined;
    await bench.advance(90_000);
    expect(bench.keeper.status()).toMatchObject({ state: 'held', lastError: undefined });
    expect(bench.story).toContain('lease-lost');
    expect(bench.story.at(-1)).toBe('lease-regained');
    const closing = bench.keeper.close();
    await bench.advance(1_000);
    await closing;
    expect(bench.database.row(1).token).toBe('');
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
  });
});
