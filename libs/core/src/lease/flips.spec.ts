import { thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { KeeperBench } from '../../../../test/support/engine/keeper-bench.js';

/** Until a write that was asked for has been made. */
const WRITTEN = 20;

const bitOf = (bench: KeeperBench, code?: string): number =>
  bench.resolved.layout.unpack(bench.generator.nextId(code)).clockBack;

/** A process that has issued on lane 0, and whose clock then went back. */
async function wentBack(ms: number, options: ConstructorParameters<typeof KeeperBench>[0] = {}): Promise<KeeperBench> {
  const bench = await KeeperBench.started(options);
  bench.issue();
  bench.time.step(-ms);
  return bench;
}

function expectNoRepeat(ids: readonly bigint[]): void {
  expect(new Set(ids).size).toBe(ids.length);
}

describe('the first rollback', () => {
  it('is answered with one write: the lane, the odometer of the new lane, and nothing of the old one', async () => {
    const bench = await wentBack(5_000);
    const id = bench.workerId!;
    const before = bench.database.row(id);
    bench.issue();
    bench.issue();
    await bench.advance(WRITTEN);
    bench.issue();
    await bench.advance(2_000);
    expect(bench.store.writes).toHaveLength(2);
    expect(bench.store.writes[1]).toMatchObject({ id, lane: 1, expected: { version: before.version } });
    const { lane, odometers } = bench.database.row(id);
    expect(lane).toBe(1);
    expect(odometers[0]).toEqual(before.odometers[0]);
    expect(odometers[1]).toEqual({
      ms: bench.time.wall - 2_000 + 65_000,
      sequence: bench.resolved.layout.maxSequence,
    });
    expect(bench.events).toContainEqual({ type: 'clock-back', workerId: id, lane: 1 });
  });

  it('keeps to the held lane until then, and has bit 1 at the clock afterwards', async () => {
    const bench = await KeeperBench.started();
    const tick = bench.resolved.layout.timeline.tickAt(bench.time.wall);
    const worker = bench.workerId!;
    expect(bench.next()).toBe(`${tick}:${worker}:0:0`);
    bench.time.step(-5_000);
    expect([bench.next(), bench.next()]).toEqual([`${tick}:${worker}:0:1`, `${tick}:${worker}:0:2`]);
    await bench.advance(WRITTEN);
    expect(bench.next()).toBe(`${tick - 5_000 + WRITTEN}:${worker}:1:0`);
    expectNoRepeat(bench.issued);
  });

  it('starts on lane 1 and flips to 0 where timeBackBitValue is 1', async () => {
    const bench = await wentBack(5_000, { layout: { timeBackBitValue: 1 } });
    expect(bitOf(bench)).toBe(1);
    await bench.advance(WRITTEN);
    expect(bitOf(bench)).toBe(0);
    expect(bench.database.row(bench.workerId!).lane).toBe(0);
  });

  it('whose write hangs is held against for as long as the write is under way', async () => {
    const bench = await wentBack(60_000, { generator: { maxHoldMs: 100 } });
    bench.store.next('write', { kind: 'hangs' });
    bench.issue();
    await bench.advance(2_900);
    expect(bench.refusal()).toBeUndefined();
    await bench.advance(1_000);
    expect(bitOf(bench)).toBe(1);
  });

  it('whose answer was lost is adopted, and never written twice', async () => {
    const bench = await wentBack(5_000);
    bench.store.next('write', { kind: 'answer-lost' });
    bench.issue();
    await bench.advance(WRITTEN);
    expect(bench.database.row(bench.workerId!).lane).toBe(1);
    expect(bitOf(bench)).toBe(0);
    await bench.advance(800);
    expect(bitOf(bench)).toBe(1);
    expect(bench.story.filter((type) => type === 'clock-back')).toHaveLength(1);
  });

  it('that is over before the write changes nothing for the IDs', async () => {
    const bench = await wentBack(5_000);
    bench.issue();
    bench.time.step(5_001);
    await bench.advance(1_000);
    expect(bitOf(bench)).toBe(0);
    await bench.advance(90_000);
    expect(bitOf(bench)).toBe(1);
    expect(bench.refusal()).toBeUndefined();
  });
});

describe('the next rollback', () => {
  const flipped = async (laterMs: number): Promise<KeeperBench> => {
    const bench = await wentBack(5_000);
    bench.issue();
    await bench.advance(WRITTEN);
    bench.issue();
    await bench.advance(laterMs);
    bench.issue();
    bench.time.step(-1_000);
    return bench;
  };

  it('goes back to the first lane at once where that one is below the clock and still reserved', async () => {
    const bench = await flipped(20_000);
    const writes = bench.store.writes.length;
    expect(bench.next()).toMatch(/:0:0$/);
    expect(bench.store.writes).toHaveLength(writes);
    expectNoRepeat(bench.issued);
  });

  it('goes back by one write when the reservation of the first lane is long over', async () => {
    const bench = await flipped(200_000);
    const { odometers } = bench.database.row(bench.workerId!);
    expect(bench.next()).toMatch(/:1:1$/);
    await bench.advance(WRITTEN);
    expect(bench.next()).toMatch(/:0:0$/);
    const row = bench.database.row(bench.workerId!);
    expect(row.lane).toBe(0);
    expect(row.odometers[0].ms).toBeGreaterThan(bench.time.wall);
    expect(row.odometers[1]).toEqual(odometers[1]);
    expectNoRepeat(bench.issued);
  });

  it('over the same time is held against, then refused until the clock has caught up', async () => {
    const bench = await wentBack(5_000, { generator: { maxHoldMs: 500 } });
    bench.issue();
    await bench.advance(WRITTEN);
    expect(bench.next()).toMatch(/:1:0$/);
    bench.time.step(-4_000);
    expect(bench.next()).toMatch(/:1:1$/);
    await bench.advance(500);
    expect(bench.next()).toMatch(/:1:2$/);
    await bench.advance(1);
    expect(thrownBy(() => bench.issue())).toMatchObject({
      errorCode: 'CLOCK_MOVED_BACK',
      behindMs: 4_000 - 501,
      retryable: true,
    });
    const waiting = bench.generator.nextIdAsync();
    await bench.advance(4_000 - 501 - 1);
    expect(bench.refusal()).toBe('CLOCK_MOVED_BACK');
    await bench.advance(1);
    bench.issued.push(await waiting);
    expect(bench.next()).toMatch(/:1:4$/);
    expectNoRepeat(bench.issued);
  });
});

describe('codes', () => {
  it('flip each by itself, with one write for all', async () => {
    const bench = await KeeperBench.started();
    for (const code of [undefined, 'a', 'b']) bitOf(bench, code);
    bench.time.step(-5_000);
    expect([undefined, 'a', 'b'].map((code) => bitOf(bench, code))).toEqual([0, 0, 0]);
    await bench.advance(WRITTEN);
    expect([bitOf(bench, 'a'), bitOf(bench)]).toEqual([1, 1]);
    expect(bench.generator.counters.flips).toBe(2);
    expect(bitOf(bench, 'never seen before')).toBe(1);
    expect(bitOf(bench, 'b')).toBe(1);
    await bench.advance(1_000);
    expect(bench.store.writes).toHaveLength(2);
  });

  it('left on the old lane stay there within its reservation, and then move over without a write of their own', async () => {
    const bench = await KeeperBench.started();
    bitOf(bench, 'left');
    bench.issue();
    bench.time.step(-5_000);
    bench.issue();
    await bench.advance(WRITTEN);
    expect(bitOf(bench)).toBe(1);
    const { odometers } = bench.database.row(bench.workerId!);
    await bench.advance(30_000);
    expect([bitOf(bench, 'left'), bitOf(bench)]).toEqual([0, 1]);
    await bench.advance(60_000);
    expect([bitOf(bench, 'left'), bitOf(bench)]).toEqual([1, 1]);
    const row = bench.database.row(bench.workerId!);
    expect(row).toMatchObject({ lane: 1, odometers: [odometers[0], {}] });
  });
});

describe('a thousand rollbacks', () => {
  it.each([
    { maxMs: 50, seed: 1 },
    { maxMs: 2_000, seed: 2 },
    { maxMs: 25_000, seed: 3 },
  ])('of up to $maxMs ms repeat nothing, with codes and corrections between (seed $seed)', async ({ maxMs, seed }) => {
    const bench = await KeeperBench.started();
    const dice = bench.database.time.another(undefined, seed).randomness;
    const roll = (max: number): number => Math.floor(dice.fraction() * max);
    const codes = [undefined, 'a', 'b'] as const;
    const issued = codes.map((): bigint[] => []);
    for (let rollback = 0; rollback < 1_000; rollback++) {
      for (let call = 0; call < 4; call++) {
        const which = roll(codes.length);
        try {
          issued[which]!.push(bench.generator.nextId(codes[which]));
        } catch (error) {
          expect(error).toMatchObject({ retryable: true });
        }
        await bench.advance(roll(2) * roll(2 * maxMs));
      }
      bench.time.step(-1 - roll(maxMs));
      if (roll(3) === 0) bench.time.setWall(bench.database.time.wall);
    }
    issued.forEach(expectNoRepeat);
    expect(issued.flat().length).toBeGreaterThan(2_000);
    expect(bench.generator.counters.flips).toBeGreaterThan(50);
  });
});

describe('a rollback with the database down', () => {
  it('is held against, then refused with an error worth retrying, and over when the database is back', async () => {
    const bench = await KeeperBench.started();
    bench.issue();
    bench.store.goDown();
    bench.time.step(-20_000);
    expect(bench.next()).toMatch(/:0:1$/);
    await bench.advance(2_900);
    expect(bench.next()).toMatch(/:0:2$/);
    await bench.advance(200);
    expect(thrownBy(() => bench.issue())).toMatchObject({ errorCode: 'CLOCK_MOVED_BACK', retryable: true });
    await bench.advance(5_000);
    expect(bench.refusal()).toBe('CLOCK_MOVED_BACK');
    bench.store.comeBack();
    await bench.advance(800);
    expect(bench.next()).toMatch(/:1:0$/);
    expectNoRepeat(bench.issued);
  });

  it('goes on by itself on the held lane when the clock catches up first', async () => {
    const bench = await KeeperBench.started();
    bench.issue();
    bench.store.goDown();
    bench.time.step(-10_000);
    bench.issue();
    await bench.advance(9_999);
    expect(bench.refusal()).toBe('CLOCK_MOVED_BACK');
    await bench.advance(2);
    expect(bench.next()).toMatch(/:0:0$/);
    expectNoRepeat(bench.issued);
  });
});
