import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import { createLayout } from '../layout/layout-options.js';
import type { Layout } from '../layout/layout.js';
import type { LeaseEvent } from '../lease/worker-keeper.js';
import { settle, VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { AssignedWorkerKeeper } from './assigned-worker-keeper.js';
import type { AssignedWorkerId, WorkerIdAssigner } from './worker-id-assigner.js';

/** As a program without types may reject. */
const nothing = undefined as unknown as Error;

const START = Date.parse('2026-03-01');

function layoutOf(timeUnit: 'millisecond' | 'second' | 'minute'): Layout {
  // Six bits are left for the sequence: ticks are used up soon.
  return createLayout({ timeUnit, startTimeStamp: '2026-01-01', timeStampLength: 46, workIdLength: 10 }, START);
}

interface BenchOptions {
  readonly time?: VirtualTime;
  readonly restartWaitMs?: number | false;
  readonly layout?: Layout;
  /** False: the keeper does not learn what was issued. */
  readonly reports?: boolean;
  /** Told of every event as it happens. */
  readonly onEvent?: () => unknown;
}

/** One process with a worker id of an assigner that a test writes. */
class AssignedBench {
  readonly events: LeaseEvent[] = [];
  readonly time: VirtualTime;
  readonly keeper: AssignedWorkerKeeper;
  readonly generator: SnowflakeGenerator;
  processId = 1;

  constructor(assigner: Partial<WorkerIdAssigner>, options: BenchOptions = {}) {
    const { layout = layoutOf('millisecond'), restartWaitMs = false } = options;
    this.time = options.time ?? new VirtualTime(START);
    const { clock, monotonic, timers, randomness } = this.time;
    const ports = { clock, monotonic, timers, randomness, processId: () => this.processId };
    const full = { name: 'test', guarantee: 'exclusive', acquire: () => Promise.resolve({ workerId: 7 }), ...assigner };
    this.keeper = new AssignedWorkerKeeper(
      {
        assigner: full as WorkerIdAssigner,
        request: { layout, workers: { min: 1, max: 20 }, holder: 'a host' },
        firstLane: 0,
        restartWaitMs,
        opTimeoutMs: 1_000,
      },
      ports,
    );
    this.keeper.onEvent((event) => this.events.push(event));
    if (options.onEvent !== undefined) this.keeper.onEvent(options.onEvent);
    this.generator = new SnowflakeGenerator({ layout, tenure: this.keeper }, ports);
    if (options.reports ?? true) this.keeper.setHighestIssued((lane) => this.generator.highest(this.keeper, lane));
  }

  /** Starts, and lets so much time pass meanwhile. */
  async start(ms = 0): Promise<unknown> {
    const starting = this.begin().catch((error: unknown) => error);
    await this.time.advance(ms);
    return starting;
  }

  async begin(): Promise<boolean> {
    if (!(await this.keeper.acquire())) return false;
    await this.keeper.start();
    return true;
  }

  get story(): string[] {
    return this.events.map(({ type }) => type);
  }

  /** The code of the refusal, or the worker id of an ID. */
  next(): string | number {
    const refusal = this.generator.refusal();
    return refusal?.errorCode ?? this.generator.parse(this.generator.nextId()).workerId;
  }
}

/** An assigner that gives the next id at every call, for `leaseMs`. */
function counting(leaseMs?: number, renew?: WorkerIdAssigner['renew']): Partial<WorkerIdAssigner> {
  let workerId = 0;
  const acquire = (): Promise<AssignedWorkerId> =>
    Promise.resolve({ workerId: ++workerId, ...(leaseMs !== undefined && { leaseMs }) });
  return { acquire, renew: renew ?? ((assigned) => Promise.resolve(assigned)) };
}

describe('A worker id that was assigned', () => {
  it('is issued with from the start until the close, which gives it back', async () => {
    const released: AssignedWorkerId[] = [];
    const bench = new AssignedBench({ release: (assigned) => Promise.resolve(void released.push(assigned)) });
    expect(bench.next()).toBe('NOT_READY');
    expect(await bench.start()).toBe(true);
    expect(bench.next()).toBe(7);
    expect(bench.keeper.status()).toMatchObject({ state: 'held', workerId: 7, leaseLeftMs: Infinity });
    await Promise.all([bench.keeper.close(), bench.keeper.close()]);
    expect(bench.next()).toBe('CLOSED');
    expect(released).toEqual([{ workerId: 7 }]);
    expect(bench.story).toEqual(['lease-acquired', 'lease-released']);
    expect(bench.time.pending.size).toBe(0);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('pager is down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('pager is down'))],
  ])('is renewed, lost and replaced also where a listener %s', async (_, onEvent) => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const server = { isDown: false };
    const renew: WorkerIdAssigner['renew'] = (assigned) =>
      server.isDown ? Promise.reject(new Error('the server is down')) : Promise.resolve(assigned);
    const bench = new AssignedBench(counting(3_000, renew), { onEvent });
    bench.keeper.onChange(onEvent);
    expect(await bench.start()).toBe(true);
    await bench.time.advance(10_000);
    expect(bench.keeper.status()).toMatchObject({ state: 'held', workerId: 1, failures: 0 });
    server.isDown = true;
    await bench.time.advance(2_000);
    expect(bench.story.at(-1)).toBe('lease-trouble');
    server.isDown = false;
    await bench.time.advance(10_000);
    expect(bench.keeper.status()).toMatchObject({ state: 'held', lastError: undefined });
    bench.keeper.afterRestore();
    await bench.time.advance(1_000);
    expect(bench.next()).toBe(2);
    await bench.keeper.close();
    expect(bench.story.at(-1)).toBe('lease-released');
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
    process.off('unhandledRejection', unhandled);
  });

  it('is not there when the assigner has none to give', async () => {
    expect(await new AssignedBench({ acquire: () => Promise.resolve(undefined) }).start()).toBe(false);
  });

  it.each<[string, () => unknown, RegExp, boolean]>([
    ['nothing of a number', () => ({ workerId: 'seven' }), /'test' gave.*worker id "seven".*1\.\.20/, false],
    ['a number outside the range', () => ({ workerId: 21 }), /worker id 21.*1\.\.20/, false],
    ['null', () => null, /worker id undefined/, false],
    ['a lease that is a text', () => ({ workerId: 7, leaseMs: '5000' }), /leaseMs "5000"/, false],
    ['warnings that are none', () => ({ workerId: 7, warnings: 5 }), /not a list of strings/, false],
    ['a lease that never was', () => ({ workerId: 7, leaseMs: 0 }), /leaseMs 0; leaseMs must be from 100/, false],
    [
      'an error',
      () => {
        throw new Error('no zoo');
      },
      /its acquire\(\) threw: no zoo/,
      true,
    ],
    ['a rejection that is no Error', () => Promise.reject(nothing), /a value that is not an Error/, true],
  ])('is refused when the assigner answers %s', async (_, acquire, message, retryable) => {
    const bench = new AssignedBench({ acquire: acquire as never });
    const error = await bench.start();
    expect(error).toMatchObject({ errorCode: 'WORKER_ID_ASSIGNER', retryable, assigner: 'test' });
    expect((error as Error).message).toMatch(message);
  });

  it('is given back when it cannot be used', async () => {
    const released: number[] = [];
    const bench = new AssignedBench({
      acquire: () => Promise.resolve({ workerId: 21 }),
      release: ({ workerId }) => Promise.resolve(void released.push(workerId)),
    });
    await bench.start();
    expect(released).toEqual([21]);
  });

  it('is given back when it comes after the deadline of the call', async () => {
    let answer!: (assigned: AssignedWorkerId) => void;
    const released: number[] = [];
    const bench = new AssignedBench({
      acquire: () => new Promise((resolve) => (answer = resolve)),
      release: ({ workerId }) => Promise.resolve(void released.push(workerId)),
    });
    expect(await bench.start(1_001)).toMatchObject({ errorCode: 'WORKER_ID_ASSIGNER', retryable: true });
    answer({ workerId: 3 });
    await settle();
    expect(released).toEqual([3]);
  });

  it('is given back when it comes after the close', async () => {
    let answer!: (assigned: AssignedWorkerId) => void;
    const released: number[] = [];
    const bench = new AssignedBench({
      acquire: () => new Promise((resolve) => (answer = resolve)),
      release: ({ workerId }) => Promise.resolve(void released.push(workerId)),
    });
    const starting = bench.begin().catch((error: unknown) => error);
    await bench.keeper.close();
    answer({ workerId: 3 });
    expect(await starting).toMatchObject({ errorCode: 'CLOSED' });
    expect(released).toEqual([3]);
  });

  it('logs what its assigner warns of', async () => {
    const bench = new AssignedBench({ acquire: () => Promise.resolve({ workerId: 2, warnings: ['few are left'] }) });
    await bench.start();
    expect(bench.events.at(-1)).toEqual({ type: 'warning', message: 'few are left' });
  });
});

describe('The restart wait', () => {
  it.each(['millisecond', 'second'] as const)('keeps a crash and a start in one %s apart', async (unit) => {
    const layout = layoutOf(unit);
    const borrowMs = unit === 'second' ? 1_000 : 5;
    const first = new AssignedBench({}, { layout, restartWaitMs: borrowMs });
    await first.start(3_000);
    // As far ahead of the clock as it gets.
    const issued = first.generator.nextIds(layout.idsPerTick * 2);
    const second = new AssignedBench({}, { time: first.time, layout, restartWaitMs: borrowMs });
    const starting = second.begin();
    await settle();
    expect(second.next()).toBe('NOT_READY');
    await first.time.advance(3_000);
    expect(await starting).toBe(true);
    expect(second.generator.nextId()).toBeGreaterThan(issued.at(-1)!);
  });

  it('is what does it: without it the same IDs come again', async () => {
    const first = new AssignedBench({});
    await first.start();
    const issued = new Set(first.generator.nextIds(60));
    const second = new AssignedBench({}, { time: first.time });
    await second.start();
    expect(second.generator.nextIds(60).filter((id) => issued.has(id))).toHaveLength(60);
  });

  it('of 0 lasts to the end of the tick', async () => {
    const bench = new AssignedBench({}, { layout: layoutOf('minute'), restartWaitMs: 0 });
    const starting = bench.begin();
    await bench.time.advance(59_000);
    expect(bench.next()).toBe('NOT_READY');
    await bench.time.advance(1_000);
    expect(await starting).toBe(true);
  });

  it('gives up on a clock that stands still, and on a service that is closed meanwhile', async () => {
    const still = new AssignedBench({}, { restartWaitMs: 800 });
    const starting = still.begin().catch((error: unknown) => error);
    for (let half = 0; half < 40; half++) {
      await still.time.advance(500);
      still.time.setWall(START);
    }
    expect(await starting).toMatchObject({ errorCode: 'NOT_READY' });
    const closed = new AssignedBench({}, { restartWaitMs: 60_000 });
    const waiting = closed.begin().catch((error: unknown) => error);
    await closed.time.advance(10);
    await closed.keeper.close();
    await closed.time.advance(1_000);
    expect(await waiting).toMatchObject({ errorCode: 'CLOSED' });
  });
});

describe('A worker id with a lease', () => {
  it('is renewed at a third of it', async () => {
    let renewed = 0;
    const bench = new AssignedBench(counting(3_000, (assigned) => (renewed++, Promise.resolve(assigned))));
    await bench.start();
    await bench.time.advance(30_000);
    expect(renewed).toBeGreaterThanOrEqual(29);
    expect(bench.next()).toBe(1);
    await bench.keeper.close();
    expect(bench.time.pending.size).toBe(0);
  });

  it('is used to its end while renewals fail, and not a moment longer', async () => {
    const bench = new AssignedBench(counting(3_000, () => Promise.reject(new Error('down'))));
    await bench.start();
    await bench.time.advance(2_500);
    expect(bench.next()).toBe(1);
    bench.time.freeze(600);
    expect(bench.next()).toBe('LEASE_LOST');
    expect(bench.keeper.status()).toMatchObject({ state: 'lost', leaseLeftMs: 0 });
    await bench.time.advance(1_000);
    expect(bench.next()).toBe(2);
    expect(bench.story).toEqual(expect.arrayContaining(['lease-trouble', 'lease-lost', 'lease-regained']));
  });

  it('that ran out while the renewal was under way is not revived', async () => {
    let answer!: () => void;
    const bench = new AssignedBench(
      counting(1_200, (assigned) => new Promise((resolve) => (answer = () => resolve(assigned)))),
    );
    await bench.start();
    await bench.time.advance(450);
    bench.time.freeze(900);
    answer();
    await settle();
    expect(bench.next()).toBe(2);
  });

  it('is replaced when its assigner says that it is lost, or speaks of another', async () => {
    const lost = new AssignedBench(counting(3_000, () => Promise.resolve(undefined)));
    await lost.start();
    await lost.time.advance(1_000);
    expect(lost.next()).toBe(2);
    const other = new AssignedBench(counting(3_000, () => Promise.resolve({ workerId: 19, leaseMs: 3_000 })));
    await other.start();
    await other.time.advance(1_000);
    expect(other.next()).toBe(2);
  });

  it('is as good as over when the host has slept past its end, which the monotonic clock does not see', async () => {
    const bench = new AssignedBench(counting(30_000));
    await bench.start();
    bench.time.step(3_600_000);
    expect(bench.next()).toBe('LEASE_LOST');
    await bench.time.advance(10_000);
    expect(bench.next()).toBe(2);
  });

  it('is not begun with when it ends during the restart wait', async () => {
    const bench = new AssignedBench(
      counting(3_000, () => Promise.reject(new Error('down'))),
      { restartWaitMs: 5_000 },
    );
    expect(await bench.start(6_000)).toMatchObject({ errorCode: 'NOT_READY' });
  });

  it('goes on looking for another while there is none', async () => {
    let left = 1;
    const bench = new AssignedBench({
      acquire: () => Promise.resolve(left-- > 0 || left < -3 ? { workerId: 4, leaseMs: 3_000 } : undefined),
      renew: () => Promise.resolve(undefined),
    });
    await bench.start();
    await bench.time.advance(1_000);
    expect(bench.next()).toBe('LEASE_LOST');
    expect(bench.keeper.status().lastError).toMatchObject({ errorCode: 'NO_WORKER_ID' });
    await bench.time.advance(3_000);
    expect(bench.next()).toBe(4);
  });

  it('needs renew()', async () => {
    const bench = new AssignedBench({ acquire: () => Promise.resolve({ workerId: 4, leaseMs: 300 }) });
    await bench.start();
    await bench.time.advance(100);
    expect(bench.keeper.status().lastError?.message).toMatch(/has no renew\(\)/);
  });
});

describe('A worker id that comes back to the process that had it', () => {
  /** IDs before and after the clock went back and the id was asked for anew; how many came twice. */
  async function repeats(reports: boolean): Promise<number> {
    const bench = new AssignedBench({}, { restartWaitMs: 1_005, reports });
    await bench.start(1_100);
    const issued: bigint[] = [];
    const issue = async (count: number): Promise<void> => {
      for (let left = count; left > 0; left--) {
        await bench.time.advance(1);
        if (bench.generator.refusal() === undefined) issued.push(bench.generator.nextId());
      }
    };
    await issue(5_000);
    bench.time.step(-4_000);
    await issue(100);
    bench.keeper.afterRestore();
    await bench.time.advance(1_200);
    await issue(3_000);
    expect(issued.length).toBeGreaterThan(6_000);
    return issued.length - new Set(issued).size;
  }

  it('goes on where it was, wherever the clock stands', async () => {
    expect(await repeats(true)).toBe(0);
  });

  it('would repeat IDs if no file remembered', async () => {
    expect(await repeats(false)).toBeGreaterThan(1_000);
  });
});

describe('A copy of the process', () => {
  it('asks for a worker id at the pace of renewals while there is none free', async () => {
    let asked = 0;
    const bench = new AssignedBench({
      acquire: () => (asked++ === 0 ? Promise.resolve({ workerId: 7 }) : Promise.reject(new Error('down'))),
    });
    await bench.start();
    bench.processId = 2;
    expect(bench.next()).toBe('LEASE_SUSPECT');
    for (let ms = 0; ms < 5_000; ms++) {
      await bench.time.advance(1);
      expect(bench.next()).toBe('LEASE_LOST');
    }
    expect(asked).toBeLessThan(12);
    expect(bench.story.slice(0, 3)).toEqual(['lease-acquired', 'lease-suspect', 'lease-lost']);
    expect(new Set(bench.story.slice(3))).toEqual(new Set(['lease-trouble']));
  });

  it.each([
    ['in another process', (bench: AssignedBench) => (bench.processId = 2)],
    ['after a restore', (bench: AssignedBench) => bench.keeper.afterRestore()],
  ])('asks for a worker id of its own: %s', async (_, copy) => {
    const released: number[] = [];
    const bench = new AssignedBench({
      ...counting(),
      release: ({ workerId }) => Promise.resolve(void released.push(workerId)),
    });
    await bench.start();
    expect(bench.next()).toBe(1);
    copy(bench);
    bench.time.freeze(1);
    expect(bench.next()).toBe('LEASE_SUSPECT');
    await bench.time.advance(1);
    expect(bench.next()).toBe(2);
    expect(bench.story).toEqual(['lease-acquired', 'lease-suspect', 'lease-lost', 'lease-regained']);
    // The original may still use it.
    expect(released).toEqual([]);
  });
});
