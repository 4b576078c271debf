import { fence, OURS, REACH_MS, starting } from '../../../../test/support/engine/fence-bench.js';
import { FaultStore } from '../../../../test/support/engine/fault-store.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { live, repeats } from '../../../../test/support/engine/live.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';
import { FailoverGuard, FormerPrimaryError, type StoreTerm } from './failover-guard.js';
import { MemoryWorkerStore, MemoryWorkerTable } from './memory-worker-store.js';
import type { WorkerTable } from './worker-store.js';

const ROW = { min: 1, max: 1 };
const HOUR_MS = 3_600_000;

/** One clock for all: what differs are the servers. */
let nowMs: number;

beforeEach(() => {
  nowMs = Date.parse('2026-03-01T12:00:00.000Z');
});

afterEach(() => jest.restoreAllMocks());

function serverOf(term: string, state: Partial<MemoryWorkerTable['state']> = {}): MemoryWorkerTable {
  const table = new MemoryWorkerTable();
  table.term = term;
  table.state = { ...table.state, ...state };
  return table;
}

/** A process that is led from one server to another, and keeps what it knows. */
class Led {
  readonly store: MemoryWorkerStore;

  constructor(server: MemoryWorkerTable) {
    this.store = new MemoryWorkerStore(server, () => nowMs, REACH_MS);
    void this.store.prepare(ROW);
  }

  at(server: MemoryWorkerTable): Promise<WorkerTable> {
    (this.store as unknown as { table: MemoryWorkerTable }).table = server;
    return this.store.readTable();
  }

  /** Is granted IDs of the next 65 s. */
  async take(server: MemoryWorkerTable): Promise<void> {
    await this.at(server);
    const { id, version, token } = server.rows.get(1)!;
    const odometers = [
      { ms: nowMs + 65_000, sequence: 0 },
      { ms: 0, sequence: -1 },
    ] as const;
    const rest = { holder: '', layout: 'L', lane: 0, code: 'c', timeUnit: 1, leaseMs: 60_000 } as const;
    const write = { id, expected: { version, token }, token: `${nowMs}`, odometers, ...rest };
    expect(await this.store.write(write)).toBe(true);
  }
}

describe('A process that comes back to a server which was fenced', () => {
  /** A has never lost anything. B was promoted in its place, and the process has gone there. */
  async function replaced(): Promise<[process: Led, a: MemoryWorkerTable, b: MemoryWorkerTable]> {
    const [a, b] = [serverOf('A'), serverOf('B', { knownTerm: 'A', failoverNumber: nowMs })];
    const process = new Led(a);
    await process.take(a);
    nowMs += 10_000;
    await process.take(b);
    await expect(process.at(a)).rejects.toThrow(FormerPrimaryError);
    return [process, a, b];
  }

  const fenceOf = (server: MemoryWorkerTable, servedAlone: string): Promise<number> =>
    new MemoryWorkerStore(server, () => nowMs, REACH_MS).fence(fenceRequest(155_000, { servedAlone }));

  it('finds no loss: the bar of the fence stays, and so does what its operator has stated', async () => {
    const [process, a] = await replaced();
    // B is stopped.
    nowMs += 30_000;
    await fenceOf(a, 'L');
    const fenced = a.state;
    nowMs += 20_000;
    const { barredUntilMs, servedAlone } = await process.at(a);
    expect(a.state).toEqual(fenced);
    expect(barredUntilMs).toBe(fenced.fencedUntilMs);
    expect(servedAlone).toEqual({ layout: 'L', lostUntilMs: 0 });
  });

  it('finds a loss where the other one has served on', async () => {
    const [process, a, b] = await replaced();
    await fenceOf(a, 'L');
    // The operator has forgotten B.
    nowMs += HOUR_MS;
    await process.take(b);
    nowMs += 1_000;
    expect((await process.at(a)).barredUntilMs).toBe(nowMs + REACH_MS);
  });

  it('finds a loss where the fenced one died at once, and comes back after an empty one has served', async () => {
    const [, a] = await replaced();
    await fenceOf(a, 'L');
    nowMs += 20_000;
    const c = serverOf('C');
    const process = new Led(c);
    await process.take(c);
    expect(c.state.failoverNumber).toBeLessThan(a.state.failoverNumber);
    nowMs += HOUR_MS;
    await process.take(c);
    expect((await process.at(a)).barredUntilMs).toBe(nowMs + REACH_MS);
  });

  it('is refused by an empty one after that, until it is fenced', async () => {
    const [process, a] = await replaced();
    await fenceOf(a, 'L');
    await process.at(a);
    nowMs += 20_000;
    const c = serverOf('C');
    await new Led(c).take(c);
    await expect(process.at(c)).rejects.toThrow(FormerPrimaryError);
    await fenceOf(c, 'L');
    await expect(process.at(c)).resolves.toMatchObject({ barredUntilMs: nowMs + REACH_MS });
  });
});

describe('Two primaries that live', () => {
  it('record two losses and no more, while their clocks are behind one failover number', async () => {
    const state = { failoverNumber: nowMs + HOUR_MS, lostAtMs: 1, reachMs: REACH_MS };
    const [a, b] = [serverOf('A', { ...state, knownTerm: 'A' }), serverOf('B', { ...state, knownTerm: 'B' })];
    const [ofA, ofB] = [new Led(a), new Led(b)];
    await ofA.take(a);
    await ofB.take(b);
    const numbers = new Set([state.failoverNumber]);
    const refused: string[] = [];
    for (let times = 0; times < 20; times++) {
      nowMs += 10_000;
      const [to, from] = times % 2 === 0 ? [b, a] : [a, b];
      await ofA.at(to).catch(() => refused.push(to.term));
      await ofB.at(from).catch(() => refused.push(from.term));
      for (const server of [a, b]) numbers.add(server.state.failoverNumber);
    }
    expect(numbers.size).toBe(3);
    expect(new Set(refused)).toEqual(new Set(['A']));
  });

  it('have lost each what the other one was written, where one has served on unnoticed', async () => {
    const [a, b] = [serverOf('A'), serverOf('B', { knownTerm: 'A', failoverNumber: nowMs })];
    const [process, other] = [new Led(a), new Led(a)];
    await process.take(a);
    await other.at(a);
    nowMs += 10_000;
    await other.at(b);
    nowMs += HOUR_MS;
    await process.take(a);
    expect((await process.at(b)).barredUntilMs).toBe(nowMs + REACH_MS);
    const { lostAtMs } = b.state;
    // It is recorded once: the other one knows no more than that.
    nowMs += 1_000;
    await other.at(b);
    await process.at(b);
    expect(b.state.lostAtMs).toBe(lostAtMs);
  });
});

describe('A table whose state stays', () => {
  it('has lost what is missing where a row goes back, once for all processes', async () => {
    const server = serverOf('A');
    const [process, other] = [new Led(server), new Led(server)];
    await other.at(server);
    await process.take(server);
    const row = server.rows.get(1)!;
    nowMs += 10_000;
    await process.take(server);
    server.rows.set(1, row);
    expect((await process.at(server)).barredUntilMs).toBe(nowMs + REACH_MS);
    const { state } = server;
    nowMs += 10_000;
    await Promise.all([process.at(server), other.at(server)]);
    expect(server.state).toEqual(state);
    // It goes back again.
    await process.take(server);
    server.rows.set(1, row);
    expect((await process.at(server)).barredUntilMs).toBe(nowMs + REACH_MS);
  });

  it('has lost nothing where the lease reckons with commits that are lost', () => {
    const seen: StoreTerm = {
      nowMs,
      term: 'A',
      knownTerm: 'A',
      failoverNumber: 1,
      lostAtMs: 0,
      reachMs: REACH_MS,
      versionOf: () => 1,
    };
    const odometers = [{ ms: nowMs, sequence: 0 }, { ms: 0, sequence: -1 }] as const; // prettier-ignore
    const rest = { token: 't', holder: '', layout: '', lane: 0, code: '', timeUnit: 1, leaseMs: 1 } as const;
    const judged = [false, true].map((losesCommits) => {
      const guard = new FailoverGuard(REACH_MS, losesCommits);
      guard.believe(seen, guard.judge(seen));
      guard.noteWritten({ id: 1, expected: { version: 1, token: '' }, odometers, ...rest });
      return guard.judge(seen).isNewFailover;
    });
    expect(judged).toEqual([true, false]);
  });

  it('has lost its record where the state was dropped and a process that has just begun records it', async () => {
    const server = serverOf('A');
    const process = new Led(server);
    await process.take(server);
    nowMs += 10_000;
    server.state = serverOf('A').state;
    await new Led(server).at(server);
    expect(server.state.lostAtMs).toBe(0);
    expect((await process.at(server)).barredUntilMs).toBe(nowMs + REACH_MS);
  });

  /** The row of a holder goes back to before it came, and it takes the row again within the same hour. */
  async function putBack(): Promise<KeeperBench> {
    const database = await WorkerDatabase.withRows(ROW);
    database.table.term = 'A';
    const holder = new KeeperBench({
      database,
      layout: { ...OURS, timeUnit: 'hour', timeStampLength: 20 },
      lease: { waitForWorkerMs: HOUR_MS },
      makeStore: ({ table, time }, process) => new FaultStore(table, process, time, REACH_MS),
    });
    const row = database.row(1);
    void holder.keeper.start().catch(() => undefined);
    await live(5_000, holder);
    database.table.rows.set(1, row);
    await live(2 * HOUR_MS, holder);
    return holder;
  }

  it('repeats no ID where the row of a holder goes back to before it came', async () => {
    const holder = await putBack();
    expect(holder.issued.length).toBeGreaterThan(100);
    expect(repeats(holder)).toBe(0);
  });

  it('repeats IDs then if no row is judged: the control', async () => {
    jest.spyOn(FailoverGuard.prototype, 'noteWritten').mockReturnValue(undefined);
    expect(repeats(await putBack())).toBeGreaterThan(10);
  });
});

it('a fence under processes that run is no loss', async () => {
  const database = new WorkerDatabase();
  database.table.term = 'A';
  const holder = starting(1, { database, layout: OURS });
  await live(5_000, holder);
  await fence(database);
  const { state } = database.table;
  await live(12_000, holder);
  expect(database.table.state).toEqual(state);
});
