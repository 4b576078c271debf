import { KeeperBench, type KeeperBenchOptions } from '../../../../test/support/engine/keeper-bench.js';

/** Reserves in blocks of one, so that every ID beyond the first needs a write. */
const BLOCKS: KeeperBenchOptions = {
  layout: { timeUnit: 'hour', timeStampLength: 45, workIdLength: 3 },
  lease: { heartbeatIntervalMs: 5_000, leaseMs: 60_000 },
};

describe('a renewal whose answer was lost', () => {
  it('is not granted until a read shows its token, and then it is', async () => {
    const bench = await KeeperBench.started();
    const [id, before] = [bench.workerId!, bench.keeper.limit];
    bench.store.next('write', { kind: 'answer-lost' });
    await bench.advance(10_000);
    expect(bench.database.row(id).version).toBe(2);
    expect(bench.keeper.limit).toEqual(before);
    bench.store.next('write', { kind: 'hangs' });
    await bench.advance(900);
    expect(bench.keeper.limit[0].tick).toBeGreaterThan(before[0].tick);
    expect(bench.database.row(id).version).toBe(2);
  });

  it('counts from when it was sent, not from when it was adopted', async () => {
    const bench = await KeeperBench.started();
    bench.store.next('write', { kind: 'answer-lost' }, { kind: 'hangs' });
    await bench.advance(11_000);
    expect(bench.keeper.status().leaseLeftMs).toBeLessThan(60_000 - 800);
  });

  it('a dozen times in a row loses nothing and repeats nothing', async () => {
    const bench = await KeeperBench.started();
    for (let round = 0; round < 12; round++) {
      bench.store.next('write', { kind: 'answer-lost' });
      await bench.advance(10_000);
      bench.issue();
      bench.issue();
    }
    expect(new Set(bench.issued).size).toBe(24);
    expect(bench.story).not.toContain('lease-lost');
  });
});

describe('a renewal that was lost on its way', () => {
  it('is repeated', async () => {
    const bench = await KeeperBench.started();
    bench.store.next('write', { kind: 'hangs' });
    await bench.advance(20_000);
    expect(bench.story).toEqual(['lease-acquired', 'lease-trouble']);
    expect(bench.keeper.status().leaseLeftMs).toBeGreaterThan(45_000);
    expect(bench.store.abandoned).toBe(1);
  });
});

describe('a renewal that is executed late', () => {
  it.each([3_100, 3_500, 4_000, 12_000])('by %d ms is harmless', async (afterMs) => {
    const bench = await KeeperBench.started();
    bench.store.next('write', { kind: 'ghost', afterMs });
    for (let passed = 0; passed < 60_000; passed += 100) {
      await bench.advance(100);
      bench.issue();
    }
    expect(new Set(bench.issued).size).toBe(bench.issued.length);
    expect(bench.story).not.toContain('lease-lost');
    expect(bench.database.row(bench.workerId!).odometers[0].ms).toBeGreaterThan(bench.time.wall);
  });

  it('between the re-read and the next attempt is adopted by the read after that', async () => {
    const bench = await KeeperBench.started();
    bench.store.next('write', { kind: 'ghost', afterMs: 4_500 });
    await bench.advance(10_000);
    bench.store.faultFor = (call) => (call === 'write' ? { kind: 'slow', thereMs: 1_500, backMs: 0 } : undefined);
    await bench.advance(10_000);
    expect(bench.database.row(bench.workerId!).version).toBeGreaterThanOrEqual(3);
    expect(bench.story).not.toContain('lease-lost');
    expect(bench.refusal()).toBeUndefined();
  });

  it('after the row went to somebody else does nothing', async () => {
    const options = { layout: { serviceMaxWorkId: 1 }, lease: { leaseMs: 20_000, graceMs: 0 } };
    const bench = await KeeperBench.started(options);
    bench.store.next('write', { kind: 'ghost', afterMs: 60_000 });
    await bench.advance(9_999);
    bench.kill();
    await bench.advance(20_000);
    const next = await KeeperBench.started({ ...options, database: bench.database });
    const { token } = bench.database.row(1);
    await bench.advance(60_000);
    expect(bench.database.row(1).token).not.toBe(bench.store.writes[1]!.token);
    expect(token).not.toBe('');
    expect(next.story).not.toContain('lease-lost');
  });
});

describe('an ambiguous reservation of a block', () => {
  it('bars what it would grant until it is known', async () => {
    const bench = await KeeperBench.started(BLOCKS);
    const block = bench.keeper.limit[0].sequence + 1;
    bench.store.faultFor = (call) => (call === 'write' ? { kind: 'answer-lost' } : undefined);
    for (let count = 0; count < block; count++) bench.issue();
    expect(bench.refusal()).toBe('RESERVATION_EXHAUSTED');
    await bench.advance(20);
    expect(bench.database.row(bench.workerId!).odometers[0].sequence).toBeGreaterThanOrEqual(block);
    expect(bench.refusal()).toBe('RESERVATION_EXHAUSTED');
    await bench.advance(900);
    expect(bench.refusal()).toBeUndefined();
    expect(new Set(bench.issued).size).toBe(block + 1);
  });
});
