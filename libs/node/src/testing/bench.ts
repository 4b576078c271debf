import assert from 'node:assert/strict';
import type { FenceRequest, SampleRequest, WorkerRow, WorkerSample, WorkerStore, WorkerWrite } from '@raindrop/core';
import { hostTimers, monotonicClock } from '../system/system-ports.js';

/** One empty place for worker rows, made for one case, and what other programs may do to the rows. */
export interface WorkerStoreBench {
  /** Opens another store of the same rows, as another process would. The bench closes it. */
  open(): WorkerStore;
  /** Another program writes the row: it counts `version` up, and knows no `ownVersion`. For `foreignWriters`. */
  foreignWrite?(id: number): Promise<void>;
  /** An operator marks the row deleted. For `deletedRows`. */
  markDeleted?(id: number): Promise<void>;
  /** Closes every store and removes the place. */
  dispose(): Promise<void>;
}

export const LARGEST = Number.MAX_SAFE_INTEGER;
export const LAYOUTS = ['1@1704067200000:t41.w10.b1.s11', '1000@1672531200:t33.w10.b1.s18.e1=0'] as const;

/** A column of times may be coarser than a clock by this, ms. */
export const COARSE_MS = 1_000;

/** A write that takes the row as it was read. */
export function writeTo(row: WorkerRow, change: Partial<WorkerWrite> = {}): WorkerWrite {
  return {
    id: row.id,
    expected: { version: row.version, token: row.token },
    token: 'a1',
    holder: 'host-1 pid 42',
    layout: '1@1704067200000:t41.w10.b1.s10.e1=0',
    lane: 0,
    odometers: row.odometers,
    code: '10.0.0.1#8080#1#aa-bb',
    timeUnit: 1,
    leaseMs: 60_000,
    ...change,
  };
}

/** The fence of an operator who knows nothing more. */
export function fenceFor(aheadMs: number, more: Partial<FenceRequest> = {}): FenceRequest {
  return { aheadMs, maxClockSkewMs: 30_000, ...more };
}

/** A row without the end of its lease: a store without a clock of its own computes that end by the reader's clock. */
export function storedOf(row: WorkerRow): object {
  return { ...row, leaseUntilMs: 'not compared' };
}

export const byId = (rows: readonly WorkerRow[]): WorkerRow[] => [...rows].sort((a, b) => a.id - b.id);

export const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Lets other work run: a store in memory may answer without waiting. */
export const turn = (): Promise<void> => hostTimers.turn();

/** The operations of the cases on one bench. */
export class Rows {
  constructor(private readonly bench: WorkerStoreBench) {}

  open(): WorkerStore {
    return this.bench.open();
  }

  /** A store whose table has the rows 1 to `max`. */
  async prepared(max = 3): Promise<WorkerStore> {
    const store = this.bench.open();
    await store.prepare({ min: 1, max });
    return store;
  }

  /** The row as it is. @throws AssertionError when it is missing */
  async of(store: WorkerStore, id: number): Promise<WorkerRow> {
    const { row } = await store.readRow(id);
    assert.ok(row !== undefined, `row ${id} is missing`);
    return row;
  }

  /** Takes the row as it is. @returns the row afterwards */
  async take(store: WorkerStore, id: number, change: Partial<WorkerWrite> = {}): Promise<WorkerRow> {
    assert.equal(await store.write(writeTo(await this.of(store, id), change)), true, `row ${id} could not be written`);
    return this.of(store, id);
  }

  async ids(store: WorkerStore): Promise<number[]> {
    return byId((await store.readTable()).rows).map(({ id }) => id);
  }

  sample(store: WorkerStore, request: Partial<SampleRequest> = {}): Promise<WorkerSample> {
    return store.readSample({ workers: { min: 1, max: 9 }, from: 1, atMost: 9, graceMs: 0, ...request });
  }

  foreignWrite(id: number): Promise<void> {
    assert.ok(this.bench.foreignWrite !== undefined, 'foreignWriters needs a bench with foreignWrite()');
    return this.bench.foreignWrite(id);
  }

  markDeleted(id: number): Promise<void> {
    assert.ok(this.bench.markDeleted !== undefined, 'deletedRows needs a bench with markDeleted()');
    return this.bench.markDeleted(id);
  }
}

/** The cases of one topic: the promise, and the test of it. */
export type Cases = Readonly<Record<string, (rows: Rows) => Promise<void>>>;

/** Copies data: a test runner may make objects in another realm, where their classes are other ones. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

/** @throws AssertionError when the data differ */
export function same(actual: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [plain(actual), plain(expected)];
  try {
    assert.deepEqual(found, wanted);
  } catch (error) {
    const message = `${what}\n${error instanceof Error ? error.message : String(error)}`;
    throw new assert.AssertionError({ message, actual: found, expected: wanted, operator: 'deepStrictEqual' });
  }
}

/** Compares only what is expected. @throws AssertionError */
export function has<T extends object>(actual: T | undefined, expected: Partial<T>, what: string): void {
  const found = actual && Object.keys(expected).map((key) => [key, actual[key as keyof T]] as const);
  same(found && Object.fromEntries(found), expected, what);
}

/** Both ends count. @throws AssertionError */
export function between(value: number, least: number, most: number, what: string): void {
  assert.ok(value >= least && value <= most, `${what}: ${value} is not in ${least} to ${most}`);
}

const LOOK_AGAIN_MS = 5;
const DEADLINE_MS = 20_000;

/** Waits until `probe` is true. @throws AssertionError when it is not within 20 s */
export async function until(what: string, probe: () => Promise<boolean>): Promise<void> {
  const deadline = monotonicClock.now() + DEADLINE_MS;
  while (!(await probe())) {
    assert.ok(monotonicClock.now() < deadline, `${what}: not within ${DEADLINE_MS} ms`);
    await hostTimers.sleep(LOOK_AGAIN_MS);
  }
}
