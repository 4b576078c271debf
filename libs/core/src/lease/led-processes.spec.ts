import { processAt, REACH_MS, starting } from '../../../../test/support/engine/fence-bench.js';
import { type KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { live, repeats } from '../../../../test/support/engine/live.js';
import { FailoverGuard, type GuardedServer, type StoreTerm } from './failover-guard.js';
import { MemoryWorkerStore, MemoryWorkerTable } from './memory-worker-store.js';
import type { WorkerTable, WorkerWrite } from './worker-store.js';

const NOON = Date.parse('2026-03-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const ROW = { min: 1, max: 1 };

function writeOf(version: number, grantedMs: number): WorkerWrite {
  const odometers = [{ ms: grantedMs, sequence: 0 }, { ms: 0, sequence: -1 }] as const; // prettier-ignore
  const rest = { holder: '', layout: 'L', lane: 0, code: 'c', timeUnit: 1, leaseMs: 60_000 } as const;
  return { id: 1, expected: { version, token: '' }, token: 't', odometers, ...rest };
}

const termOf = (given: Partial<StoreTerm>): StoreTerm => ({
  nowMs: NOON,
  term: 'A',
  knownTerm: 'A',
  failoverNumber: NOON - HOUR_MS,
  lostAtMs: 0,
  reachMs: REACH_MS,
  ...given,
});

/** Believes what answers. */
function believe(guard: FailoverGuard, seen: StoreTerm): void {
  expect(guard.believe(seen, guard.judge(seen))).toBe(true);
}

function ready(): FailoverGuard {
  const guard = new FailoverGuard(REACH_MS);
  guard.mayWrite = true;
  return guard;
}

describe('The loss that a process has recorded itself', () => {
  // The next look leads to B, and the one after an hour there back to A: what was granted at B is not before that loss.
  it('does not cover what the process was granted elsewhere since', async () => {
    const guard = ready();
    believe(guard, termOf({}));
    guard.noteWritten(writeOf(7, NOON + 65_000));
    const a = termOf({ nowMs: NOON + 20_000, knownTerm: undefined, failoverNumber: 0 });
    // B was promoted 5 s before A has forgotten its record.
    const b = termOf({
      nowMs: NOON + 20_000,
      term: 'B',
      knownTerm: 'B',
      failoverNumber: NOON + 15_000,
      lostAtMs: NOON + 15_000,
    });
    let recorded: StoreTerm | undefined;
    const server: GuardedServer<StoreTerm> = {
      read: () => Promise.resolve(recorded === undefined ? a : b),
      judge: (seen) => ({ answer: seen, seen, verdict: guard.judge(seen) }),
      completeAndRecord: ({ seen, verdict }) => {
        const { failoverNumber } = verdict;
        if (verdict.isNewFailover) {
          recorded ??= { ...seen, knownTerm: seen.term, failoverNumber, lostAtMs: seen.nowMs };
        }
        return Promise.resolve({ term: seen.term, failoverNumber });
      },
      anotherEachTime: () => new Error('another each time'),
    };
    expect((await guard.readBelieved(server)).seen.term).toBe('B');
    expect(recorded).toMatchObject({ term: 'A', failoverNumber: NOON + 20_000 });
    // An hour at B.
    believe(guard, { ...b, nowMs: NOON + HOUR_MS });
    guard.noteWritten(writeOf(300, NOON + HOUR_MS + 65_000));
    const back = guard.judge({ ...recorded!, nowMs: NOON + HOUR_MS + 5_000, versionOf: () => undefined });
    expect(back.isNewFailover).toBe(true);
  });

  // Where `_state` was dropped, a new process records the server for the first, with no bar, in the same millisecond.
  it('was recorded by another process only if there is a bar', async () => {
    const guard = ready();
    believe(guard, termOf({}));
    guard.noteWritten(writeOf(7, NOON + 65_000));
    const dropped = termOf({ nowMs: NOON + 10_000, knownTerm: undefined, failoverNumber: 0, reachMs: 0 });
    // What judgeServer gives a process that has just begun: Math.max(0, nowMs).
    const first = { ...dropped, knownTerm: 'A', failoverNumber: NOON + 10_000, reachMs: REACH_MS };
    let present = dropped;
    let losses = 0;
    const server: GuardedServer<StoreTerm> = {
      read: () => Promise.resolve(present),
      judge: (seen) => ({ answer: seen, seen, verdict: guard.judge(seen) }),
      completeAndRecord: ({ seen, verdict }) => {
        const { failoverNumber } = verdict;
        if (present === dropped) {
          // INSERT ... of the other process was faster: ours adds nothing.
          present = first;
        } else if (verdict.isNewFailover) {
          losses++;
          present = { ...seen, failoverNumber, lostAtMs: seen.nowMs };
        }
        return Promise.resolve({ term: seen.term, failoverNumber });
      },
      anotherEachTime: () => new Error('another each time'),
    };
    const { verdict } = await guard.readBelieved(server);
    expect({ losses, isBarred: verdict.barredUntilMs > NOON + 65_000 }).toEqual({ losses: 1, isBarred: true });
  });
});

describe('What a process knows to be granted', () => {
  it('includes a write whose answer was lost', () => {
    const guard = ready();
    const at = (ms: number, version: number): StoreTerm => termOf({ nowMs: NOON + ms, versionOf: () => version });
    believe(guard, at(0, 7));
    guard.noteWritten(writeOf(7, NOON + 65_000));
    // 3:20 later the write of version 9 is executed, and its answer is lost; the keeper finds its token, and goes on.
    const grantedMs = NOON + 200_000 + 65_000;
    guard.noteSent(writeOf(8, grantedMs));
    believe(guard, at(200_000, 9));
    // B was recorded 10 s after noon: it bars until 3:48.
    const b = termOf({
      nowMs: NOON + 201_000,
      term: 'B',
      knownTerm: 'B',
      failoverNumber: NOON + 10_000,
      lostAtMs: NOON + 10_000,
    });
    const { barredUntilMs, isNewFailover } = guard.judge(b);
    expect(grantedMs).toBeGreaterThan(NOON + 10_000 + REACH_MS);
    expect({ isNewFailover, covers: isNewFailover || barredUntilMs >= grantedMs }).toMatchObject({ covers: true });
  });

  it('is not forgotten because the clock of the server that answers is behind', async () => {
    let nowMs = NOON;
    const server = (term: string, state: Partial<MemoryWorkerTable['state']>): MemoryWorkerTable => {
      const table = new MemoryWorkerTable();
      table.term = term;
      table.state = { ...table.state, reachMs: REACH_MS, ...state };
      return table;
    };
    const a = server('A', { knownTerm: 'A', failoverNumber: NOON - HOUR_MS });
    const b = server('B', { knownTerm: 'B', failoverNumber: NOON, lostAtMs: NOON });
    const store = new MemoryWorkerStore(a, () => nowMs, REACH_MS);
    await store.prepare(ROW);
    const at = (table: MemoryWorkerTable): Promise<WorkerTable> => {
      (store as unknown as { table: MemoryWorkerTable }).table = table;
      return store.readTable();
    };
    await at(a);
    nowMs = NOON + 600_000;
    await at(a);
    const grantedMs = nowMs + 65_000;
    const { version } = a.rows.get(1)!;
    expect(await store.write(writeOf(version, grantedMs))).toBe(true);
    // B was suspended 20 s after it was promoted, and wakes with the clock of then.
    nowMs = NOON + 20_000;
    await at(b);
    // Its clock is set.
    nowMs = NOON + 601_000;
    const { barredUntilMs = 0 } = await at(b);
    expect(barredUntilMs).toBeGreaterThanOrEqual(grantedMs);
  });
});

describe('A process that has seen a row on a former primary', () => {
  /** A was replaced at noon by B, which bars until 12:03:38, and lives on. */
  async function led(
    killedAtMs: number,
    ledAtMs: number,
  ): Promise<{ holder: KeeperBench; next: KeeperBench; b: WorkerDatabase }> {
    const layout = { serviceMaxWorkId: 1 };
    const database = new WorkerDatabase(NOON - 60_000);
    database.table.term = 'A';
    const holder = starting(1, { database, layout, aheadMs: 29_000 });
    await live(60_000, holder);
    const b = new WorkerDatabase(database.time);
    database.restore(database.table, b.table);
    b.table.term = 'B';
    const numbers = { failoverNumber: NOON, lostAtMs: NOON, reachMs: REACH_MS };
    b.table.state = { ...numbers, knownTerm: 'B' };
    await live(killedAtMs - 10_000, holder);
    const next = processAt(2, { database, layout });
    void next.keeper.start().catch(() => undefined);
    await live(10_000, holder, next);
    holder.kill();
    await live(ledAtMs - killedAtMs, next);
    const { memory } = next.store as unknown as { memory: { table: MemoryWorkerTable } };
    memory.table = b.table;
    await live(120_000, next);
    return { holder, next, b };
  }

  // What a replaced server grants to others inside the bar of its successor is known to them alone.
  it('may repeat IDs of a dead holder that was renewed there, while the bar lasts: a limit', async () => {
    const { holder, next, b } = await led(215_000, 217_000);
    expect(holder.issued.length).toBeGreaterThan(100);
    expect(next.issued.length).toBeGreaterThan(100);
    expect(b.table.state.lostAtMs).toBe(NOON);
    expect(repeats(holder, next)).toBeGreaterThan(0);
  });

  it('repeats none where it has seen that after the bar: it records a loss', async () => {
    const { holder, next, b } = await led(225_000, 227_000);
    expect(b.table.state.lostAtMs).toBeGreaterThan(NOON);
    expect(repeats(holder, next)).toBe(0);
  });
});

describe('Two copies of one server that are reached in turn', () => {
  // Nothing tells them apart.
  it('record a loss at each turn, which bars all rows: a limit', async () => {
    let nowMs = NOON;
    const table = new MemoryWorkerTable();
    table.term = 'A';
    const copy = new MemoryWorkerTable();
    copy.term = 'A';
    const store = new MemoryWorkerStore(table, () => nowMs, REACH_MS);
    await store.prepare(ROW);
    const at = (to: MemoryWorkerTable): Promise<WorkerTable> => {
      (store as unknown as { table: MemoryWorkerTable }).table = to;
      return store.readTable();
    };
    await at(table);
    copy.state = table.state;
    table.rows.forEach((row, id) => copy.rows.set(id, row));
    expect(await store.write(writeOf(table.rows.get(1)!.version, NOON + 65_000))).toBe(true);
    const numbers = new Set<number>();
    for (let times = 0; times < 20; times++) {
      nowMs += 1_000;
      const to = times % 2 === 0 ? copy : table;
      const { barredUntilMs = 0 } = await at(to);
      expect(barredUntilMs).toBe(nowMs + REACH_MS);
      numbers.add(to.state.failoverNumber);
    }
    expect(numbers.size).toBe(20);
  });
});

describe('A former primary that loses a commit of a process which does not know its successor', () => {
  /** A was replaced by B at noon. X is still at A, whose row goes back by one write; P has seen B. */
  async function restarted(): Promise<{ p: Process; x: Process; a: MemoryWorkerTable; b: MemoryWorkerTable }> {
    const server = (term: string, failoverNumber: number, lostAtMs = 0): MemoryWorkerTable => {
      const table = new MemoryWorkerTable();
      table.term = term;
      table.state = { knownTerm: term, failoverNumber, lostAtMs, reachMs: REACH_MS };
      return table;
    };
    const [a, b] = [server('A', NOON - HOUR_MS), server('B', NOON, NOON)];
    const [p, x] = [new Process(a), new Process(a)];
    await p.at(a);
    await x.at(a);
    clock.ms = NOON + 10_000;
    await p.at(b);
    const before = a.rows.get(1)!;
    const { version } = before;
    expect(await x.store.write(writeOf(version, clock.ms + 65_000))).toBe(true);
    await x.at(a);
    // A crashes, and comes back without that commit. It is restarted at once.
    a.rows.set(1, before);
    clock.ms = NOON + 30_000;
    await x.at(a);
    return { p, x, a, b };
  }

  const clock = { ms: NOON };

  beforeEach(() => {
    clock.ms = NOON;
  });

  class Process {
    readonly store: MemoryWorkerStore;

    constructor(table: MemoryWorkerTable) {
      this.store = new MemoryWorkerStore(table, () => clock.ms, REACH_MS);
      void this.store.prepare(ROW);
    }

    at(table: MemoryWorkerTable): Promise<WorkerTable> {
      (this.store as unknown as { table: MemoryWorkerTable }).table = table;
      return this.store.readTable();
    }
  }

  it('stays a former primary for those that have seen the successor', async () => {
    const { p, a } = await restarted();
    await expect(p.at(a)).rejects.toMatchObject({ errorCode: 'FORMER_PRIMARY' });
  });

  it('does not make the successor a former primary', async () => {
    const { p, a, b } = await restarted();
    await p.at(a).catch(() => undefined);
    await expect(p.at(b)).resolves.toBeDefined();
  });
});
