import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { live, repeats } from '../../../../test/support/engine/live.js';

const ONE_ROW = { serviceMaxWorkId: 1 };
/** 14 sequence bits: a block is 16 of 16,384. */
const HOURS = { ...ONE_ROW, timeUnit: 'hour', timeStampLength: 45 } as const;
const WINDOW = 5_000;

/** A process that starts, and what has become of its start. */
function starting(options: KeeperBenchOptions): { bench: KeeperBench; outcome: () => string } {
  const bench = new KeeperBench(options);
  let outcome = 'pending';
  bench.keeper.start().then(
    () => (outcome = 'started'),
    (error: { errorCode: string }) => (outcome = error.errorCode),
  );
  return { bench, outcome: () => outcome };
}

describe('a fresh lease on probation', () => {
  it.each([1_000, WINDOW, 25_000])('of %d ms issues nothing before that has passed', async (commitLossWindowMs) => {
    const { bench, outcome } = starting({ lease: { commitLossWindowMs } });
    for (let passed = 0; passed < commitLossWindowMs; passed += 100) {
      await bench.advance(passed === 0 ? 99 : 100);
      expect(bench.refusal()).toBe('NOT_READY');
      expect(outcome()).toBe('pending');
    }
    expect(bench.keeper.status()).toMatchObject({ state: 'suspect', leaseLeftMs: 0 });
    await bench.advance(100);
    expect(outcome()).toBe('started');
    expect(bench.refusal()).toBeUndefined();
  });

  it('issues nothing either before a read has shown its token after the window', async () => {
    const { bench, outcome } = starting({ lease: { commitLossWindowMs: WINDOW } });
    await bench.advance(WINDOW - 100);
    bench.store.goDown();
    await live(10_000, bench);
    expect(bench.issued).toEqual([]);
    expect(outcome()).toBe('pending');
    bench.store.comeBack();
    const reads = bench.store.calls.length;
    await bench.advance(1_000);
    expect(bench.store.calls.slice(reads)).toContain('readRow');
    expect(outcome()).toBe('started');
  });

  it('is waited for by the async calls', async () => {
    const { bench } = starting({ lease: { commitLossWindowMs: WINDOW } });
    const waiting = bench.generator.nextIdAsync();
    await bench.advance(WINDOW + 100);
    await expect(waiting).resolves.toEqual(expect.any(BigInt));
  });

  it('comes again with the next worker after a loss', async () => {
    const { bench } = starting({ lease: { commitLossWindowMs: WINDOW } });
    await bench.advance(WINDOW + 100);
    const version = bench.database.row(bench.workerId!).version + 1;
    bench.database.change(bench.workerId!, { token: 'of another', version, ownVersion: version });
    await bench.advance(10_100);
    expect(bench.story).toEqual(['lease-acquired', 'lease-lost', 'lease-regained']);
    expect(bench.refusal()).toBe('NOT_READY');
    await bench.advance(WINDOW);
    expect(bench.refusal()).toBeUndefined();
  });

  it('does not end with an answer to what was sent before: that can be lost as well', async () => {
    const { bench, outcome } = starting({ lease: { commitLossWindowMs: WINDOW } });
    await bench.advance(WINDOW - 300);
    bench.store.next('write', { kind: 'slow', thereMs: 100, backMs: 1_000 });
    bench.store.next('readRow', undefined, { kind: 'slow', thereMs: 0, backMs: 500 });
    bench.keeper.requestExtension();
    await bench.advance(1_200);
    expect(bench.events.map(({ type }) => type)).toContain('lease-renewed');
    expect(bench.refusal()).toBe('NOT_READY');
    // The next one follows at once, not a heartbeat later.
    await bench.advance(500);
    expect(bench.refusal()).toBeUndefined();
    expect(outcome()).toBe('started');
  });

  it('is asked about at the usual pace while the database is away', async () => {
    const { bench } = starting({ lease: { commitLossWindowMs: WINDOW } });
    await bench.advance(WINDOW - 100);
    bench.store.goDown();
    const before = bench.store.calls.length;
    await bench.advance(10_000);
    expect(bench.store.calls.length - before).toBeLessThan(20);
  });

  it('does not come again with a renewal', async () => {
    const { bench } = starting({ lease: { commitLossWindowMs: WINDOW } });
    await bench.advance(WINDOW + 100);
    for (let passed = 0; passed < 60_000; passed += 500) {
      expect(bench.refusal()).toBeUndefined();
      await bench.advance(500);
    }
  });
});

describe('a database that loses the acknowledged write that acquired the row', () => {
  /** The first process acquires, the database loses it, the second one takes the row. */
  const failover = async (
    commitLossWindowMs: number,
    lostAfterMs: number,
  ): Promise<[ReturnType<typeof starting>, ReturnType<typeof starting>]> => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 1 });
    const past = database.snapshot();
    const options = { database, layout: ONE_ROW, lease: { commitLossWindowMs } };
    const first = starting(options);
    await database.advance(lostAfterMs);
    first.bench.refusal();
    database.restore(past);
    const second = starting(options);
    await database.advance(0);
    second.bench.refusal();
    return [first, second];
  };

  it.each([0, 1, 2_500, WINDOW - 1])('%d ms after it, inside the window, leads to no repeat', async (lostAfterMs) => {
    const [first, second] = await failover(WINDOW, lostAfterMs);
    await live(60_000, first.bench, second.bench);
    expect(second.outcome()).toBe('started');
    expect(first.outcome()).not.toBe('started');
    expect(first.bench.issued).toEqual([]);
    expect(second.bench.issued.length).toBeGreaterThan(500);
    expect(repeats(first.bench, second.bench)).toBe(0);
  });

  it.each([0.9, 1, 1.1, 1.25])('is not hidden by a late answer: a window of %d heartbeats', async (heartbeats) => {
    const commitLossWindowMs = heartbeats * 10_000;
    const database = await WorkerDatabase.withRows({ min: 1, max: 1 });
    const past = database.snapshot();
    const options = { database, layout: ONE_ROW, lease: { commitLossWindowMs } };
    const first = starting(options);
    await database.advance(commitLossWindowMs - 500);
    // Executed inside the window, answered after it; what was acquired is lost in between.
    first.bench.store.next('write', { kind: 'slow', thereMs: 0, backMs: 1_500 });
    first.bench.keeper.requestExtension();
    await database.advance(400);
    database.restore(past);
    const second = starting(options);
    await live(60_000, first.bench, second.bench);
    expect(second.outcome()).toBe('started');
    expect(second.bench.issued.length).toBeGreaterThan(300);
    expect(first.bench.issued).toEqual([]);
    expect(repeats(first.bench, second.bench)).toBe(0);
  });

  it('leads to repeats with no window set, for up to a heartbeat: the known limit', async () => {
    const [first, second] = await failover(0, 0);
    expect(repeats(first.bench, second.bench)).toBe(1);
    await live(11_000, first.bench, second.bench);
    const before = repeats(first.bench, second.bench);
    expect(before).toBeGreaterThan(50);
    await live(60_000, first.bench, second.bench);
    expect(repeats(first.bench, second.bench)).toBe(before);
  });
});

describe('an hour row taken over from a holder who did not give it back', () => {
  const start = '2026-03-01T12:10:00.000Z';
  /** A holder of the row who has issued two and a half blocks of this hour, and is killed. */
  const killed = async (database: WorkerDatabase, commitLossWindowMs: number): Promise<KeeperBench> => {
    const { bench } = starting({ database, layout: HOURS, lease: { commitLossWindowMs } });
    await database.advance(commitLossWindowMs + 100);
    for (let count = 0; count < 14; count++) bench.issue();
    const past = database.snapshot();
    await database.advance(20);
    for (let count = 0; count < 10; count++) bench.issue();
    bench.kill();
    database.restore(past);
    await database.advance(60_000 + (commitLossWindowMs === 0 ? 60_001 : 150_001 + commitLossWindowMs));
    return bench;
  };

  it('is begun with the next hour where a window is set, and nothing lost is repeated', async () => {
    const database = new WorkerDatabase(start);
    const gone = await killed(database, WINDOW);
    const { bench, outcome } = starting({ database, layout: HOURS, lease: { commitLossWindowMs: WINDOW } });
    await database.advance(WINDOW + 100);
    expect(outcome()).toBe('started');
    expect(bench.refusal()).toBe('SEQUENCE_EXHAUSTED');
    await database.advance(Date.parse('2026-03-01T13:00:00.000Z') - 1 - database.time.wall);
    expect(bench.refusal()).toBe('SEQUENCE_EXHAUSTED');
    await database.advance(1);
    expect(bench.next()).toMatch(/:1:0:0$/);
    await live(1_000, bench);
    expect(repeats(gone, bench)).toBe(0);
  });

  it('is begun with what the row says where no window is set, and repeats what was lost: the known limit', async () => {
    const database = new WorkerDatabase(start);
    const gone = await killed(database, 0);
    const { bench } = starting({ database, layout: HOURS });
    await database.advance(100);
    for (let count = 0; count < 10; count++) bench.issue();
    expect(repeats(gone, bench)).toBe(8);
  });

  it('is begun in this hour after a clean release, window or not', async () => {
    const database = new WorkerDatabase(start);
    const options = { database, layout: HOURS, lease: { commitLossWindowMs: WINDOW } };
    const first = starting(options);
    await database.advance(WINDOW + 100);
    first.bench.issue();
    await first.bench.keeper.close();
    const second = starting(options);
    await database.advance(WINDOW + 100);
    expect(second.bench.next()).toMatch(/:1:0:1$/);
  });
});
