import { KeeperBench } from '../../../../test/support/engine/keeper-bench.js';

const writes = (bench: KeeperBench): number => bench.store.writes.length;

/** Issues every `everyMs` for `forMs`; answers with the codes of the calls that failed. */
async function issueFor(bench: KeeperBench, forMs: number, everyMs = 250): Promise<string[]> {
  const failures: string[] = [];
  for (let passed = 0; passed < forMs; passed += everyMs) {
    await bench.advance(everyMs);
    const refusal = bench.refusal();
    if (refusal !== undefined) failures.push(refusal);
  }
  return failures;
}

describe('a renewal', () => {
  it('comes with every heartbeat, a tenth of jitter aside', async () => {
    const bench = await KeeperBench.started();
    await bench.advance(600_000);
    const renewals = writes(bench) - 1;
    expect(renewals).toBeGreaterThanOrEqual(60);
    expect(renewals).toBeLessThanOrEqual(67);
    expect(bench.keeper.status()).toMatchObject({ state: 'held', renewals, failures: 0, lastError: undefined });
  });

  it('rotates the token, counts the version up and moves lease and odometer on', async () => {
    const bench = await KeeperBench.started();
    const [id, before] = [bench.workerId!, bench.database.row(bench.workerId!)];
    await bench.advance(10_000);
    const after = bench.database.row(id);
    expect(after.version).toBe(before.version + 1);
    expect(after.ownVersion).toBe(after.version);
    expect(after.token).not.toBe(before.token);
    expect(after.leaseUntilMs).toBeGreaterThan(before.leaseUntilMs + 8_000);
    expect(after.odometers[0].ms).toBeGreaterThan(before.odometers[0].ms + 8_000);
    expect(after.odometers[1]).toEqual(before.odometers[1]);
  });

  it('is asked for by a generator whose reservation runs low, not more often than every 20 ms', async () => {
    const bench = await KeeperBench.started({ lease: { heartbeatIntervalMs: 50_000, leaseMs: 60_000 } });
    bench.time.freeze(33_000);
    bench.issue();
    bench.issue();
    await bench.advance(20);
    expect(writes(bench)).toBe(2);
    expect(await issueFor(bench, 1_000, 1)).toEqual([]);
    expect(writes(bench)).toBe(2);
  });

  it('never lowers what was granted, also when the clock is behind', async () => {
    const bench = await KeeperBench.started();
    const granted = bench.database.row(bench.workerId!).odometers[0];
    bench.time.step(-20_000);
    await bench.advance(10_000);
    expect(bench.database.row(bench.workerId!).odometers[0]).toEqual(granted);
  });

  it('clamps its target to the clock of the database', async () => {
    const bench = await KeeperBench.started();
    bench.time.step(29_999);
    await bench.advance(10_000);
    const { ms } = bench.database.row(bench.workerId!).odometers[0];
    expect(ms).toBeLessThanOrEqual(bench.database.time.wall + 30_000 + 65_000);
  });

  it('raises an odometer again that was lowered by hand while the holder lives', async () => {
    const bench = await KeeperBench.started();
    const id = bench.workerId!;
    bench.issue();
    bench.database.change(id, { odometers: [{ ms: 0, sequence: -1 }, bench.database.row(id).odometers[1]] });
    await bench.advance(10_000);
    expect(bench.database.row(id).odometers[0].ms).toBeGreaterThan(bench.time.wall);
  });

  it('counts its lease from before the request was sent', async () => {
    const bench = await KeeperBench.started({ lease: { leaseMs: 20_000 } });
    bench.store.faultFor = () => ({ kind: 'slow', thereMs: 0, backMs: 1_000 });
    await bench.advance(12_000);
    const { leaseLeftMs } = bench.keeper.status();
    expect(leaseLeftMs).toBeLessThanOrEqual(19_000);
  });

  it('goes on when a listener throws', async () => {
    const bench = await KeeperBench.started();
    jest.spyOn(bench.events, 'push').mockImplementation(() => {
      throw new Error('a careless listener');
    });
    bench.store.goDown();
    await bench.advance(30_000);
    bench.store.comeBack();
    await bench.advance(30_000);
    expect(bench.keeper.status()).toMatchObject({ state: 'held', lastError: undefined });
  });
});

describe('a database outage', () => {
  it.each(['refused', 'hangs'] as const)('of 47 s costs not one failed call (%s)', async (kind) => {
    for (const when of [1, 3_000, 6_000, 8_999]) {
      const bench = await KeeperBench.started();
      await issueFor(bench, when);
      bench.store.faultFor = () => ({ kind });
      expect(await issueFor(bench, 47_000)).toEqual([]);
      bench.store.comeBack();
      expect(await issueFor(bench, 60_000)).toEqual([]);
      expect(new Set(bench.issued).size).toBe(bench.issued.length);
      expect(bench.story.filter((type) => type !== 'lease-trouble')).toEqual(['lease-acquired']);
    }
  });

  it('is met by an attempt at least every 800 ms', async () => {
    const bench = await KeeperBench.started();
    bench.store.goDown();
    await bench.advance(10_000);
    const before = bench.store.calls.length;
    await bench.advance(8_000);
    expect(bench.store.calls.length - before).toBeGreaterThanOrEqual(10);
    expect(bench.store.calls.length - before).toBeLessThanOrEqual(12);
  });

  it('longer than the lease ends in LeaseLostError, which is worth retrying, and heals within a second', async () => {
    const bench = await KeeperBench.started();
    bench.store.goDown();
    const failures = await issueFor(bench, 200_000);
    expect(new Set(failures)).toEqual(new Set(['LEASE_LOST']));
    expect(failures.length).toBeGreaterThanOrEqual((200_000 - 60_000) / 250);
    expect(bench.keeper.admit(bench.time.wall)).toMatchObject({ retryable: true, workerId: bench.workerId });
    bench.store.comeBack();
    const waiting = bench.generator.nextIdAsync();
    await bench.advance(1_000);
    bench.issued.push(await waiting);
    expect(await issueFor(bench, 30_000)).toEqual([]);
    expect(new Set(bench.issued).size).toBe(bench.issued.length);
    expect(bench.story.filter((type) => type !== 'lease-trouble')).toEqual([
      'lease-acquired',
      'lease-lost',
      'lease-regained',
    ]);
  });

  it('a little longer than the lease leaves the row free for the same process again', async () => {
    const bench = await KeeperBench.started({ layout: { serviceMaxWorkId: 1 } });
    bench.store.goDown();
    await issueFor(bench, 75_000);
    bench.store.comeBack();
    expect((await issueFor(bench, 5_000)).length).toBeLessThanOrEqual(4);
    expect(bench.workerId).toBe(1);
    expect(new Set(bench.issued).size).toBe(bench.issued.length);
  });
});
