import {
  KeeperBench,
  type KeeperBenchOptions,
  twins,
  WorkerDatabase,
} from '../../../../test/support/engine/keeper-bench.js';
import { FaultStore } from '../../../../test/support/engine/fault-store.js';
import { live } from '../../../../test/support/engine/live.js';
import { type LayoutOptions, resolveLayout } from '../layout/layout-options.js';
import { Layout } from '../layout/layout.js';
import { PastCopiedError, PastExhaustedError, type PastIds, reservePast } from './past-ids.js';
import { Reservation } from './reservation.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';

const START = Date.parse('2026-03-01T12:00:00.000Z');
const FROM = Date.parse('2025-01-01T00:00:00.000Z');
const MINUTE = 60_000;

/** Eight sequences in a tick of one ms. */
const NARROW = { timeStampLength: 50, workIdLength: 9 } as const;

interface Wish extends KeeperBenchOptions {
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly maxAheadMs?: number;
}

/** A process of its own that reserves, and what has become of it. */
class Backfill {
  readonly bench: KeeperBench;
  ids: PastIds | undefined;
  failure: { readonly errorCode: string; readonly message: string } | undefined;
  private issued: bigint[] | undefined;

  constructor({ fromMs = FROM, toMs, maxAheadMs = MINUTE, ...options }: Wish = {}) {
    this.bench = new KeeperBench(options);
    const past = { fromMs, toMs: toMs ?? this.bench.time.wall };
    void reservePast({ ...this.bench.context, past }, maxAheadMs).then(
      (ids) => void (this.ids = ids),
      (error: Error & { errorCode: string }) => void (this.failure = error),
    );
  }

  /** One that has settled within so much time. */
  static async of(wish: Wish = {}, withinMs = 20_000): Promise<Backfill> {
    const backfill = new Backfill(wish);
    await backfill.bench.advance(withinMs);
    return backfill;
  }

  /** Its first IDs, each so long after the one before; none where it was refused. */
  issue(every = MINUTE * 60, count = 20): bigint[] {
    const { ids } = this;
    if (ids === undefined) return [];
    return (this.issued ??= Array.from({ length: count }, (_, index) => ids.at(ids.from.getTime() + index * every)));
  }
}

function repeatsOf(...all: readonly (readonly bigint[])[]): number {
  const ids = all.flat();
  return ids.length - new Set(ids).size;
}

describe('a backfill', () => {
  it('gives IDs whose time is the one that was asked for, in ascending order, and needs no database for it', async () => {
    const { bench, ids } = await Backfill.of();
    bench.store.goDown();
    const times = [FROM, FROM, FROM + 1, FROM + 86_400_000, START - 5, START];
    const issued = times.map((time, index) => ids!.at(index % 2 === 0 ? time : new Date(time)));
    const { layout } = bench.resolved;
    expect(issued.map((id) => layout.timeline.startOf(layout.unpack(id).tick))).toEqual(times);
    expect([...issued].sort((a, b) => (a < b ? -1 : 1))).toEqual(issued);
    expect(new Set(issued.map((id) => layout.unpack(id).workerId))).toEqual(new Set([ids!.workerId]));
    expect(ids!.stringAt(START)).toMatch(/^\d+$/);
  });

  it('leaves a free row, with an odometer at the end of the stretch: the next service goes on after it', async () => {
    const { bench, ids } = await Backfill.of({ layout: { serviceMaxWorkId: 1 } });
    const row = bench.database.row(1);
    expect(row).toMatchObject({ token: '', version: 2 });
    expect(row.odometers[ids!.lane]).toEqual({ ms: START, sequence: bench.resolved.layout.maxSequence });
    const service = await KeeperBench.started({ database: bench.database, layout: { serviceMaxWorkId: 1 } });
    await live(1_000, service);
    const past = ids!.at(START);
    expect(service.issued.every((id) => id > past)).toBe(true);
  });

  it('keeps no timer', async () => {
    const { bench } = await Backfill.of({ lease: { commitLossWindowMs: 5_000 } }, 60_000);
    expect(bench.time.pending.size).toBe(0);
  });

  it('takes a tick that has no sequence left from the next one, and never makes a later time fail by that', async () => {
    const { bench, ids } = await Backfill.of({ layout: NARROW, maxAheadMs: 3 });
    const { layout } = bench.resolved;
    const perTick = layout.idsPerTick;
    const tickOf = (id: bigint): number => layout.unpack(id).tick - layout.timeline.tickAt(FROM);
    const issued = Array.from({ length: 3 * perTick }, () => ids!.at(FROM));
    expect(issued.map(tickOf)).toEqual(issued.map((_, index) => Math.floor(index / perTick)));
    const later = ids!.at(FROM + 1);
    expect(tickOf(later)).toBe(3);
    expect(later > issued.at(-1)!).toBe(true);
    // The fourth tick is 3 ms ahead of FROM, the fifth one is too far, and ends nothing.
    for (let each = 1; each < perTick; each++) ids!.at(FROM + 1);
    expect(ids!.at(FROM + 1) > later).toBe(true);
    for (let each = 1; each < perTick; each++) ids!.at(FROM + 1);
    expect(() => ids!.at(FROM + 1)).toThrow(PastExhaustedError);
    expect(tickOf(ids!.at(FROM + 2))).toBe(5);
    expect(tickOf(ids!.at(FROM + 100))).toBe(100);
  });

  it('refuses what it cannot place, consumes nothing by that, and goes on', async () => {
    const { ids } = await Backfill.of();
    const code = (work: () => unknown): unknown => {
      try {
        return work();
      } catch (error) {
        return (error as { errorCode: string }).errorCode;
      }
    };
    expect(code(() => ids!.at(FROM - 1))).toBe('TIME_ORDER');
    expect(code(() => ids!.at(START + 1))).toBe('TIME_ORDER');
    const first = ids!.at(FROM + 10);
    expect(code(() => ids!.at(FROM + 9))).toBe('TIME_ORDER');
    for (const wrong of [
      Number.NaN,
      Infinity,
      new Date(NaN),
      '2025-01-01' as never,
      undefined as never,
      null as never,
    ]) {
      expect(code(() => ids!.at(wrong))).toBe('INVALID_PART');
    }
    expect(ids!.at(FROM + 10)).toBe(first + 1n * BigInt(1));
  });

  it('issues nothing past its end, borrowed or not', async () => {
    const { bench, ids } = await Backfill.of({ layout: NARROW, toMs: FROM + 1 });
    const all = Array.from({ length: 2 * bench.resolved.layout.idsPerTick }, () => ids!.at(FROM));
    expect(repeatsOf(all)).toBe(0);
    expect(() => ids!.at(FROM)).toThrow(PastExhaustedError);
    expect(() => ids!.at(FROM + 1)).toThrow(PastExhaustedError);
  });

  it.each([
    ['from', { fromMs: Date.parse('2023-12-31') }, 'startTimeStamp'],
    ['to', { toMs: START + 1 }, 'after now'],
    ['to', { fromMs: START - 5, toMs: START - 6 }, 'before from'],
  ])('refuses a %s outside what can be told', async (option, wish, says) => {
    const { failure } = await Backfill.of(wish);
    expect(failure).toMatchObject({ problems: [{ option }] });
    expect(failure!.message).toContain(says);
  });
});

describe('the row of a backfill', () => {
  it('is one whose odometer lies below the first time; a used one before one that was never used', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 3 });
    const used = (ms: number): object => ({
      code: 'x',
      odometers: [
        { ms, sequence: 5 },
        { ms, sequence: 5 },
      ],
    });
    database.change(1, used(FROM));
    database.change(2, used(FROM - 1));
    const first = await Backfill.of({ database });
    expect(first.ids!.workerId).toBe(2);
  });

  it('may be one that a service uses, on the lane that the service does not', async () => {
    const layout = { serviceMaxWorkId: 1 };
    const service = await KeeperBench.started({ layout });
    await live(2_000, service);
    await service.keeper.close();
    const backfill = await Backfill.of({ database: service.database, layout });
    expect(backfill.ids!.lane).toBe(1);
    const ids = backfill.issue(100, 20);
    expect(repeatsOf(service.issued, ids)).toBe(0);
  });

  it('of a layout with one lane is refused where it was used later, with the time from which on it works', async () => {
    const layout = { serviceMaxWorkId: 1 };
    const service = await KeeperBench.started({ layout });
    await live(2_000, service);
    await service.keeper.close();
    const { database } = service;
    database.change(1, { odometers: [database.row(1).odometers[0], database.row(1).odometers[0]] });
    const refused = await Backfill.of({ database, layout });
    expect(refused.failure).toMatchObject({ errorCode: 'NO_ROW_FOR_PAST', census: { total: 1, ahead: 1 } });
    const { lowestMs } = refused.failure as unknown as { lowestMs: number };
    const later = await Backfill.of({ database, layout, fromMs: lowestMs + 1 });
    expect(repeatsOf(service.issued, later.issue(1, 50))).toBe(0);
    expect(later.ids).toBeDefined();
  });

  it('is not one that a process holds', async () => {
    const layout = { serviceMaxWorkId: 1 };
    const service = await KeeperBench.started({ layout });
    const { failure } = await Backfill.of({ database: service.database, layout }, 100);
    expect(failure).toMatchObject({ errorCode: 'NO_ROW_FOR_PAST', census: { live: 1 } });
  });
});

/** Two backfills of the same years on one row, one after the other or at once, and what happens in between. */
async function twoOf(
  options: Wish,
  between: (database: WorkerDatabase, first: Backfill) => Promise<void> | void = () => undefined,
  second: Wish = {},
): Promise<[Backfill, Backfill]> {
  const first = new Backfill(options);
  const { database } = first.bench;
  await between(database, first);
  const next = new Backfill({ ...options, database, seed: 99, ...second });
  await database.advance(300_000);
  return [first, next];
}

const ONE_ROW = { layout: { serviceMaxWorkId: 1 } };

/** Both lanes of the only row are wanted; the third backfill must find none. */
describe('two backfills of the same years on one table', () => {
  it('at once have different rows, then different lanes, and the next one is refused', async () => {
    const database = new WorkerDatabase();
    const all = [1, 2, 3].map((seed) => new Backfill({ database, seed }));
    await database.advance(30_000);
    for (const seed of [4, 5, 6, 7]) all.push(await Backfill.of({ database, seed }));
    expect(repeatsOf(...all.map((each) => each.issue()))).toBe(0);
    // Three rows of two lanes each.
    expect(all.filter(({ ids }) => ids !== undefined).length).toBe(6);
    expect(all.find(({ failure }) => failure !== undefined)!.failure!.errorCode).toBe('NO_ROW_FOR_PAST');
  });

  it.each(['answer-lost', 'ghost', 'hangs', 'slow'] as const)('%s: no ID is there twice', async (kind) => {
    for (const which of [1, 2, 3]) {
      const [first, second] = await twoOf(ONE_ROW, async (database, { bench }) => {
        const fault =
          kind === 'ghost'
            ? ({ kind, afterMs: 3_500 } as const)
            : kind === 'slow'
              ? ({ kind, thereMs: 1_000, backMs: 1_000 } as const)
              : ({ kind } as const);
        bench.store.next('write', ...Array.from({ length: which - 1 }, () => undefined), fault);
        await database.advance(10);
      });
      const third = await Backfill.of({ ...ONE_ROW, database: first.bench.database, seed: 5 });
      expect(repeatsOf(first.issue(), second.issue(), third.issue())).toBe(0);
    }
  });

  it.each([1, 2])(
    'one that is killed at write %d leaves a row from which no process issues the same',
    async (which) => {
      const [first, second] = await twoOf(ONE_ROW, async (database, { bench }) => {
        const write = bench.store.write.bind(bench.store);
        let writes = 0;
        jest.spyOn(bench.store, 'write').mockImplementation(async (each) => {
          const isWritten = await write(each);
          if (++writes === which) bench.kill();
          return isWritten;
        });
        await database.advance(200_000);
      });
      const ids = second.issue();
      expect(ids).toHaveLength(20);
      const service = await KeeperBench.started({ ...ONE_ROW, database: first.bench.database });
      await live(1_000, service);
      expect(repeatsOf(ids, service.issued)).toBe(0);
    },
  );
});

describe('where commits can be lost', () => {
  const LOSSY = { ...ONE_ROW, lease: { commitLossWindowMs: 10_000 } };

  /** The database goes back, so long after the first backfill began, to before that. */
  const lost = (afterMs: number, wish: Wish = LOSSY): Promise<[Backfill, Backfill]> =>
    twoOf(wish, async (database) => {
      const past = database.snapshot();
      await database.advance(afterMs);
      database.restore(past);
    });

  it.each([1, 5_000, 9_900])('a reservation that is lost after %d ms is refused', async (afterMs) => {
    const [first, second] = await lost(afterMs);
    expect(first.failure).toMatchObject({ errorCode: 'STORE_UNAVAILABLE' });
    expect(repeatsOf(first.issue(), second.issue())).toBe(0);
    expect(second.issue()).toHaveLength(20);
  });

  it('a reservation that the next backfill has written again is refused all the same', async () => {
    // The next one gives its row back with the same version, no token and the same odometers.
    const [first, second] = await twoOf(
      LOSSY,
      async (database) => {
        const past = database.snapshot();
        await database.advance(9_000);
        database.restore(past);
      },
      { lease: {} },
    );
    expect(first.failure).toMatchObject({ errorCode: 'STORE_UNAVAILABLE' });
    expect(second.issue()).toHaveLength(20);
  });

  it('comes twice when no window is known: the control', async () => {
    const [first, second] = await lost(9_000, ONE_ROW);
    expect(repeatsOf(first.issue(), second.issue())).toBeGreaterThan(0);
  });

  it('a row that was not given back is not believed below now', async () => {
    const service = await KeeperBench.started(ONE_ROW);
    service.kill();
    const { database } = service;
    await database.advance(500_000);
    const { failure } = await Backfill.of({ ...LOSSY, database }, 30_000);
    expect(failure).toMatchObject({ errorCode: 'NO_ROW_FOR_PAST', census: { ahead: 1 } });
  });
});

describe('after a failover', () => {
  /** A backfill, then another server that lacks it, then a second backfill. */
  async function failOver(isNoticed: boolean): Promise<[Backfill, Backfill]> {
    const database = await WorkerDatabase.withRows({ min: 1, max: 1 });
    if (isNoticed) database.table.term = 'one';
    const makeStore: KeeperBenchOptions['makeStore'] = ({ table, time }, process) =>
      new FaultStore(table, process, time, 65_000);
    return twoOf({ ...ONE_ROW, database, makeStore }, async () => {
      const before = database.snapshot();
      await database.advance(1_000);
      const { state } = database.table;
      database.restore(before);
      database.table.state = state;
      if (isNoticed) database.table.term = 'two';
    });
  }

  it('no row is believed below what can be lost, and the refusal says so', async () => {
    const [first, second] = await failOver(true);
    expect(first.issue()).toHaveLength(20);
    expect(second.failure).toMatchObject({ errorCode: 'NO_ROW_FOR_PAST' });
    expect(second.failure!.message).toContain('has failed over');
  });

  it('comes twice when nothing tells of the failover: the control', async () => {
    const [first, second] = await failOver(false);
    expect(repeatsOf(first.issue(), second.issue())).toBeGreaterThan(0);
  });

  it('a fence refuses the past up to it, and what was reserved before goes on', async () => {
    const [first, second] = await twoOf(ONE_ROW, async (database, { bench }) => {
      await database.advance(10);
      await bench.store.fence(fenceRequest(95_000));
    });
    expect(second.failure).toMatchObject({ errorCode: 'NO_ROW_FOR_PAST' });
    expect(first.issue()).toHaveLength(20);
  });
});

describe('a table that was fenced after it was restored', () => {
  const SECOND_ROW = { layout: { serviceMinWorkId: 2, serviceMaxWorkId: 2 } };

  it('has no row of which a backfill believes that it is unused: not even one that is added after the fence', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 1 });
    const backup = database.snapshot();
    const first = await Backfill.of({ ...SECOND_ROW, database });
    database.restore(backup);
    await new KeeperBench({ database, seed: 4 }).store.fence(fenceRequest(95_000));
    const second = await Backfill.of({ ...SECOND_ROW, database, seed: 5 });
    expect(first.issue()).toHaveLength(20);
    expect(repeatsOf(first.issue(), second.issue())).toBe(0);
    expect(second.failure).toMatchObject({ errorCode: 'NO_ROW_FOR_PAST', census: { ahead: 1 } });
    expect(second.failure!.message).toContain('was fenced: what its rows say of the time before 2026-03-01T12:01:');
    // A row that the fence has raised, or that a service has used since, is believed past the fence.
    await database.advance(1_000_000);
    const later = await Backfill.of({ ...ONE_ROW, database, seed: 6, fromMs: database.time.wall - 60_000 });
    expect(later.ids).toBeDefined();
  });
});

describe('a layout of hours', () => {
  const HOURS = { layout: { timeUnit: 'hour', timeStampLength: 40, workIdLength: 10, serviceMaxWorkId: 1 } } as const;

  it('gives every ID of every hour, of the last one too', async () => {
    const hour = 3_600_000;
    const wish = { ...HOURS, fromMs: START - 48 * hour, toMs: START - 24 * hour };
    const { ids, bench } = await Backfill.of(wish);
    const { idsPerTick } = bench.resolved.layout;
    const of = (ms: number): bigint[] => Array.from({ length: idsPerTick }, () => ids!.at(ms));
    const all = [wish.fromMs, wish.fromMs + hour, wish.toMs].map(of);
    expect(repeatsOf(...all)).toBe(0);
    expect(() => ids!.at(wish.toMs)).toThrow(PastExhaustedError);
    const service = await KeeperBench.started({ ...HOURS, database: bench.database, seed: 8 });
    await live(100, service);
    expect(repeatsOf(...all, service.issued)).toBe(0);
  });
});

describe('a layout with one lane', () => {
  const resolved = {
    ...resolveLayout({ ...NARROW, startTimeStamp: '2024-01-01', serviceMaxWorkId: 1 }, START),
    layout: new Layout({
      unitMs: 1,
      epochMs: Date.parse('2024-01-01'),
      fields: [
        { name: 'timestamp', role: 'time', bits: 41 },
        { name: 'worker', role: 'worker', bits: 10 },
        { name: 'sequence', role: 'sequence', bits: 12 },
      ],
    }),
  };

  it('is refused before the last ID of the row, and served after it', async () => {
    const service = await KeeperBench.started({ resolved });
    await live(2_000, service);
    await service.keeper.close();
    const { database } = service;
    await database.advance(60_000);
    const { failure } = await Backfill.of({ resolved, database, seed: 2 });
    expect(failure).toMatchObject({ errorCode: 'NO_ROW_FOR_PAST', census: { ahead: 1 } });
    const { lowestMs } = failure as unknown as { lowestMs: number };
    expect(lowestMs).toBeGreaterThan(START);
    const later = await Backfill.of({ resolved, database, seed: 3, fromMs: lowestMs + 1 });
    expect(later.issue(1, 50)).toHaveLength(50);
    expect(repeatsOf(service.issued, later.issue())).toBe(0);
    // A later from is of no use where the row was used up to the last time that is wanted.
    const none = await Backfill.of({ resolved, database, seed: 4, toMs: lowestMs - 1 });
    expect(none.failure).toMatchObject({ errorCode: 'NO_ROW_FOR_PAST', lowestMs: undefined });
  });
});

describe('a service on the row of a backfill', () => {
  it.each([-1_000, -MINUTE, -86_400_000])('whose clock was set back by %d ms repeats none of its IDs', async (step) => {
    const service = await KeeperBench.started(ONE_ROW);
    await live(2_000, service);
    await service.keeper.close();
    const { database } = service;
    const first = await Backfill.of({ ...ONE_ROW, database, fromMs: START - 2 * 86_400_000 });
    const next = await KeeperBench.started({ ...ONE_ROW, database, seed: 3 });
    await live(500, next);
    next.time.step(step);
    await live(60_000, next);
    // Up to its end it issues at every moment at which the services have issued.
    const { unpack, timeline } = next.resolved.layout;
    const times = [...service.issued, ...next.issued].map((id) =>
      timeline.startOf(unpack.call(next.resolved.layout, id).tick),
    );
    const { ids } = first;
    const told = times.filter((ms) => ms >= ids!.from.getTime() && ms <= ids!.to.getTime()).sort((a, b) => a - b);
    const past = told.map((ms) => ids!.at(ms));
    expect(past.length).toBeGreaterThan(10);
    expect(repeatsOf(service.issued, next.issued, past)).toBe(0);
  });
});

describe('a copy of the process of a backfill', () => {
  it('is refused, by its process id or because it was told', async () => {
    const reserved: PastIds[] = [];
    const past = { fromMs: FROM, toMs: START };
    const [, copy] = await twins(ONE_ROW, 0, async ({ context }) => {
      reserved.push(await reservePast({ ...context, past }, MINUTE));
    });
    const [mine, theirs] = reserved;
    expect(mine!.workerId).toBe(theirs!.workerId);
    copy.processId = 2;
    const id = mine!.at(FROM);
    expect(() => theirs!.at(FROM)).toThrow(PastCopiedError);
    copy.processId = 1;
    // The control: nothing else would tell.
    expect(theirs!.at(FROM)).toBe(id);
    theirs!.afterRestore();
    expect(() => theirs!.at(FROM + 1)).toThrow(PastCopiedError);
  });
});

describe('another layout of the table', () => {
  const OTHER: Partial<LayoutOptions> = { serviceMaxWorkId: 1, timeStampLength: 42, workIdLength: 4 };

  it('that issued later than the first time refuses the backfill', async () => {
    const service = await KeeperBench.started({ layout: OTHER });
    await live(1_000, service);
    await service.keeper.close();
    await service.advance(120_000);
    const { failure } = await Backfill.of({ database: service.database, ...ONE_ROW });
    expect(['NO_ROW_FOR_PAST', 'LAYOUT_CONFLICT']).toContain(failure!.errorCode);
  });

  it('that starts after the reservation issues above it', async () => {
    const first = await Backfill.of(ONE_ROW);
    const { database } = first.bench;
    const next = new KeeperBench({ database, layout: OTHER, lease: { waitForWorkerMs: 600_000 } });
    void next.keeper.start().catch(() => undefined);
    await live(300_000, next);
    expect(repeatsOf(first.issue(), next.issued)).toBe(0);
  });
});

describe('without the write that reserves', () => {
  it('two backfills issue the same: the control', async () => {
    const odometers = jest.spyOn(Reservation.prototype, 'pastGrant').mockImplementation(function (
      this: Reservation,
      start,
    ) {
      const end = { tick: Number.MAX_SAFE_INTEGER, sequence: 0 };
      const at = { ms: 0, sequence: -1 };
      return { lane: start.lane, base: start.base, renewThreshold: start.base, limit: [end, end], odometers: [at, at] };
    });
    const released = jest.spyOn(Reservation.prototype, 'exhaustedOdometers', 'get').mockReturnValue([
      { ms: 0, sequence: -1 },
      { ms: 0, sequence: -1 },
    ]);
    try {
      const [first, second] = await twoOf(ONE_ROW, (database) => database.advance(10));
      expect(repeatsOf(first.issue(), second.issue())).toBeGreaterThan(0);
    } finally {
      odometers.mockRestore();
      released.mockRestore();
    }
  });
});
