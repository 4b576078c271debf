import type { LayoutOptions } from '../layout/layout-options.js';
import type { FaultStore, StoreCall } from '../../../../test/support/engine/fault-store.js';
import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { INCLUDE_HELD, type WorkerRow } from './worker-store.js';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const TWENTY: Partial<LayoutOptions> = { workIdLength: 5, serviceMaxWorkId: 20 };
/** Not disjoint from the layout of {@link TWENTY}. */
const OTHER: Partial<LayoutOptions> = { workIdLength: 6, serviceMinWorkId: 21, serviceMaxWorkId: 22 };

const readsOf = ({ store }: KeeperBench): StoreCall[] => store.calls.filter((call) => call.startsWith('read'));
const fingerprintOf = (layout: Partial<LayoutOptions>): string =>
  new KeeperBench({ layout }).resolved.layout.fingerprint;

async function twentyRows(): Promise<WorkerDatabase> {
  return WorkerDatabase.withRows({ min: 1, max: 22 });
}

describe('a start', () => {
  it('reads a sample and its own row, not the whole table', async () => {
    const bench = await KeeperBench.started({ layout: TWENTY });
    expect(readsOf(bench)).toEqual(['readSample', 'readAgain']);
    await bench.keeper.close();
    expect(readsOf(await KeeperBench.started({ layout: TWENTY, database: bench.database }))).toHaveLength(2);
  });

  it('finds a free row wherever in the range it is', async () => {
    for (const free of [1, 10, 20]) {
      const database = await twentyRows();
      const held = { token: 'theirs', code: 'x', leaseUntilMs: NOW + 60_000 };
      for (let id = 1; id <= 20; id++) if (id !== free) database.change(id, held);
      const bench = await KeeperBench.started({ database, layout: TWENTY });
      expect([bench.workerId, readsOf(bench).includes('readTable')]).toEqual([free, false]);
    }
  });

  it('spreads over the whole range', async () => {
    const workers = new Set<number | undefined>();
    for (let seed = 1; seed <= 200; seed++) {
      workers.add((await KeeperBench.started({ seed, layout: TWENTY })).workerId);
    }
    expect(workers.size).toBeGreaterThan(15);
  });

  it.each<{ what: string; options: KeeperBenchOptions; prepare?: (database: WorkerDatabase) => void }>([
    { what: 'a code is preferred', options: { lease: { priorityEqualCodeWorkId: true } } },
    {
      what: 'a past layout could repeat our IDs',
      options: {},
      prepare: ({ table }) => void table.layouts.add(fingerprintOf(OTHER)),
    },
    {
      what: 'a row outside the range has such a layout',
      options: {},
      prepare: (database) => database.change(22, { layout: fingerprintOf(OTHER), code: 'x' }),
    },
    {
      what: 'a deleted row has such a layout',
      options: {},
      prepare: ({ table }) => {
        table.deleted.set(22, { ...table.rows.get(22)!, layout: fingerprintOf(OTHER), code: 'x' });
        table.rows.delete(22);
      },
    },
  ])('reads the whole table when $what', async ({ options, prepare }) => {
    const database = await twentyRows();
    prepare?.(database);
    const bench = await KeeperBench.started({ database, layout: TWENTY, ...options });
    expect(readsOf(bench)).toContain('readTable');
  });

  it('reads the whole table when others were faster on every row of the sample', async () => {
    const database = await twentyRows();
    const bench = new KeeperBench({ database, layout: TWENTY });
    const sampled = overtaken(bench.store, database);
    await bench.keeper.start();
    expect(sampled()).toHaveLength(16);
    expect(sampled()).not.toContain(bench.workerId);
    expect(readsOf(bench)).toEqual(['readSample', 'readTable', 'readAgain']);
  });

  it('is told who stands in the way by the whole table', async () => {
    const database = await twentyRows();
    for (let id = 1; id <= 20; id++) database.change(id, { token: 'x', code: 'x', leaseUntilMs: NOW + id });
    const failing = new KeeperBench({ database, layout: TWENTY }).keeper.start();
    await expect(failing).rejects.toMatchObject({
      census: { total: 20, live: 20, foreign: 0, ahead: 0, contended: 0, freeAtMs: NOW + 1 + 60_000 },
    });
  });

  it('with a layout that ends soon is refused on a new table only', async () => {
    const layout = { ...TWENTY, timeStampLength: 41, minLifetimeDays: 365 };
    const { resolved } = new KeeperBench({ layout });
    const wall = resolved.layout.expiresAt!.getTime() - 86_400_000;
    const database = await WorkerDatabase.withRows({ min: 1, max: 20 }, wall);
    await expect(KeeperBench.started({ database, resolved })).rejects.toMatchObject({ errorCode: 'CONFIGURATION' });
    database.change(9, { code: 'used' });
    await expect(KeeperBench.started({ database, resolved })).resolves.toBeInstanceOf(KeeperBench);
  });
});

describe('two layouts that come at the same time', () => {
  /** Both have sampled before either writes. */
  async function outcomes(change: (store: FaultStore) => void): Promise<number> {
    const database = await twentyRows();
    const pair = [TWENTY, OTHER].map((layout, seed) => new KeeperBench({ database, layout, seed }));
    for (const { store } of pair) {
      store.next('readSample', { kind: 'slow', thereMs: 0, backMs: 10 });
      change(store);
    }
    const starts = Promise.allSettled(pair.map(({ keeper }) => keeper.start()));
    await database.advance(1_000);
    return (await starts).filter(({ status }) => status === 'fulfilled').length;
  }

  it('see each other at the second look', async () => {
    expect(await outcomes(() => undefined)).toBeLessThan(2);
  });

  it('both go on when the second look does not tell of the layouts of rows: the control', async () => {
    const hide = (store: FaultStore): void => {
      const read = store.readSample.bind(store);
      store.readSample = async (request) => {
        const seen = await read(request);
        return request.graceMs === INCLUDE_HELD ? { ...seen, layouts: [], layoutsOfRows: [] } : seen;
      };
    };
    expect(await outcomes(hide)).toBe(2);
  });
});

/** Every row of the first sample is taken by others before it arrives. */
function overtaken(store: FaultStore, database: WorkerDatabase): () => readonly number[] {
  let sampled: readonly WorkerRow[] = [];
  const read = store.readSample.bind(store);
  store.readSample = async (request) => {
    const sample = await read(request);
    if (request.graceMs === INCLUDE_HELD) return sample;
    sampled = sample.rows;
    for (const { id } of sampled) {
      database.change(id, { token: 'theirs', version: 7, ownVersion: 7, code: 'x', leaseUntilMs: NOW + 60_000 });
    }
    return sample;
  };
  return () => sampled.map(({ id }) => id);
}
