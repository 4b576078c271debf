import { type RaindropError, StoreUnavailableError } from '@raindrop/core';
import { wallClock } from '@raindrop/core/internal';
import type { Change, Entries, KeyValues, Seen } from './key-values.js';
import { KeyWorkerStore } from './key-worker-store.js';
import { WorkerKeys } from './worker-record.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';

const REACH_MS = 60_000;

const DAY_MS = 86_400_000;

const WORKERS = { min: 1, max: 2 };

/** A cluster that other applications use as well, and that can be restored from a snapshot. */
class Cluster {
  name = 'a cluster';
  revision = 1;
  entries = new Map<string, string>();

  snapshot(): Pick<Cluster, 'revision' | 'entries'> {
    return { revision: this.revision, entries: new Map(this.entries) };
  }

  restore({ revision, entries }: Pick<Cluster, 'revision' | 'entries'>): void {
    this.revision = revision;
    this.entries = new Map(entries);
  }
}

class Values implements KeyValues {
  /** What happens right after the next look at everything. */
  afterReadAll: (() => void) | undefined;

  constructor(private readonly cluster: Cluster) {}

  readAll(): Promise<Seen> {
    const { name, revision, entries } = this.cluster;
    const seen = { entries: new Map(entries), cluster: name, revision };
    const then = this.afterReadAll;
    this.afterReadAll = undefined;
    then?.();
    return Promise.resolve(seen);
  }

  read(_: string, keys: ReadonlySet<string>): Promise<Seen> {
    const { name, revision, entries } = this.cluster;
    const found = [...keys].filter((key) => entries.has(key)).map((key) => [key, entries.get(key)!] as const);
    return Promise.resolve({ entries: new Map(found), cluster: name, revision });
  }

  change(_: string, { seen, key, text, guards = [] }: Change): Promise<boolean> {
    const { entries } = this.cluster;
    if ([key, ...guards].some((each) => entries.get(each) !== seen.entries.get(each))) return Promise.resolve(false);
    entries.set(key, text);
    this.cluster.revision++;
    return Promise.resolve(true);
  }

  addMissing(_: string, wanted: Entries): Promise<void> {
    for (const [key, text] of wanted) {
      if (this.cluster.entries.has(key)) continue;
      this.cluster.entries.set(key, text);
      this.cluster.revision++;
    }
    return Promise.resolve();
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  unavailable(what: string, reason: string): RaindropError {
    return new StoreUnavailableError(what, new Error(reason));
  }

  abandon(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }
}

describe('A cluster of keys that is put back', () => {
  let cluster: Cluster;

  const opened = async (): Promise<{ store: KeyWorkerStore; values: Values }> => {
    const values = new Values(cluster);
    const store = new KeyWorkerStore({ values, prefix: '', liveGraceMs: undefined, reachMs: REACH_MS });
    await store.prepare(WORKERS);
    await store.readTable();
    return { store, values };
  };

  const take = async (store: KeyWorkerStore, id: number): Promise<boolean> => {
    const { row } = await store.readRow(id);
    return store.write({
      id,
      expected: { version: row!.version, token: row!.token },
      token: 'a',
      odometers: row!.odometers,
      holder: 'test',
      layout: '',
      lane: 0,
      code: 'test',
      timeUnit: 1,
      leaseMs: 60_000,
    });
  };

  beforeEach(() => {
    cluster = new Cluster();
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([0, 10])('is noted as a loss, while others write %d keys between the look and the note', async (others) => {
    const { store, values } = await opened();
    const snapshot = cluster.snapshot();
    await take(store, 1);
    await store.readTable();
    cluster.restore(snapshot);
    values.afterReadAll = () => {
      // readTable looks first: what follows is the look of the note.
      values.afterReadAll = () => void (cluster.revision += others);
    };
    const { barredUntilMs = 0 } = await store.readTable();
    expect(barredUntilMs).toBeGreaterThan(Date.now());
  });

  it('is noted as a loss twice, when it is put back twice', async () => {
    const { store } = await opened();
    const snapshot = cluster.snapshot();
    for (let times = 0; times < 3; times++) {
      await take(store, 1);
      await store.readTable();
      cluster.restore(snapshot);
      expect((await store.readTable()).barredUntilMs).toBeGreaterThan(Date.now());
    }
  });

  it('is noted as a loss where one row is put back, or deleted, and the revision goes on: once for all processes', async () => {
    const { store } = await opened();
    const { store: other } = await opened();
    for (const put of [(text: string) => cluster.entries.set('row/1', text), () => cluster.entries.delete('row/1')]) {
      await take(store, 1);
      const row = cluster.entries.get('row/1')!;
      await take(store, 1);
      put(row);
      cluster.revision++;
      const { barredUntilMs = 0 } = await store.readTable();
      expect(barredUntilMs).toBeGreaterThan(Date.now() + REACH_MS - 5_000);
      const state = cluster.entries.get('state');
      await Promise.all([store.readRow(2), other.readTable()]);
      expect(cluster.entries.get('state')).toBe(state);
      expect((await store.readTable()).rows).toHaveLength(2);
    }
  });

  it('is noted as a loss where its state is deleted, and a process that has just begun records it', async () => {
    const { store } = await opened();
    await take(store, 1);
    cluster.entries.delete('state');
    cluster.revision++;
    const now = Date.now.bind(Date);
    jest.spyOn(wallClock, 'now').mockImplementation(() => now() + 1_000);
    await opened();
    expect((await store.readTable()).barredUntilMs).toBeGreaterThan(Date.now());
  });

  it.each([
    ['is no loss once it was fenced, for a process that comes back from another one', 0, true],
    ['is a loss all the same where that one has served on for a day', DAY_MS, false],
  ])('%s', async (_, servedOnMs, isFence) => {
    const { store } = await opened();
    const first = { ...cluster.snapshot(), name: cluster.name };
    const now = Date.now.bind(Date);
    // The process goes to another cluster, and is cut off from it.
    cluster.name = 'another cluster';
    await store.readTable();
    await take(store, 1);
    const another = { ...cluster.snapshot(), name: cluster.name };
    const goTo = ({ name, ...snapshot }: typeof first): void => {
      cluster.restore(snapshot);
      cluster.name = name;
    };
    goTo(first);
    await (await opened()).store.fence(fenceRequest(REACH_MS));
    const fenced = { ...cluster.snapshot(), name: cluster.name };
    const { untilMs } = JSON.parse(cluster.entries.get('fence')!) as { untilMs: number };
    if (servedOnMs > 0) {
      goTo(another);
      jest.spyOn(wallClock, 'now').mockImplementation(() => now() + servedOnMs);
      await take(store, 1);
      goTo(fenced);
    }
    const { barredUntilMs } = await store.readTable();
    const { lostAtMs } = JSON.parse(cluster.entries.get('state')!) as { lostAtMs: number };
    expect([barredUntilMs === untilMs, lostAtMs === 0]).toEqual([isFence, isFence]);
  });

  it('bars no start for a year after a fence, because a clock was a year ahead once, and the operator says what was issued', async () => {
    const { store } = await opened();
    const now = Date.now.bind(Date);
    const ahead = jest.spyOn(wallClock, 'now').mockImplementation(() => now() + 365 * DAY_MS);
    await take(store, 1);
    ahead.mockRestore();
    await expect(store.fence(fenceRequest(1_000))).rejects.toMatchObject({ errorCode: 'CLOCK_BEHIND' });
    await store.fence(fenceRequest(1_000, { issuedUntilMs: now() }));
    cluster.name = 'another cluster';
    expect((await store.readTable()).barredUntilMs).toBeLessThan(Date.now() + DAY_MS);
  });

  it('does not shut a running process out when a fresh one notes the loss first, days after a fence', async () => {
    const { store } = await opened();
    const snapshot = cluster.snapshot();
    await store.fence(fenceRequest(1_000));
    await store.readTable();
    cluster.restore(snapshot);
    cluster.name = 'another cluster';
    const now = Date.now.bind(Date);
    jest.spyOn(wallClock, 'now').mockImplementation(() => now() + DAY_MS);
    await opened();
    await expect(store.readTable()).resolves.toBeDefined();
  });

  it('counts no fence less, when one is made in parts', async () => {
    const { store } = await opened();
    const { store: other } = await opened();
    await Promise.all([store.fence(fenceRequest(1_000)), other.fence(fenceRequest(1_000))]);
    const { rows, nowMs } = await store.readTable();
    for (const { odometers } of rows) expect(odometers[0].ms).toBeGreaterThan(nowMs - 1_000);
  });
});

describe('WorkerKeys', () => {
  const keys = new WorkerKeys('a/');
  const entriesOf = (...all: string[]): Map<string, string> => new Map(all.map((key) => [key, '']));

  it('takes decimal digits only for a row, so that no key of another table, or of an application, looks like one', () => {
    const inner = ['a/row/fence', 'a/row/state', 'a/row/row/1', 'a/row/live/1', 'a/row/1/fence', 'a/row/layout/x'];
    const strange = ['a/row/', 'a/row/01', 'a/row/1e3', 'a/row/-1', 'a/row/ 1', 'a/row/0x1', 'a/row/9007199254740993'];
    const entries = entriesOf(keys.row(0), keys.row(7), keys.row(4_095), 'b/row/8', ...inner, ...strange);
    expect(keys.idsIn(entries)).toEqual([0, 7, 4_095]);
  });

  it('takes for a layout whatever a release may have noted, and no key of a table inside', () => {
    const noted = ['1000@1672531200:t33.w10.b1.s18.e1=0', 'of-a-later-release', '2#1000@0:t41.w22'];
    const inner = ['fence', 'state', 'row/1', 'live/1', 'layout/1000@0:t41.w22', 'x/fence', ''];
    const entries = entriesOf(...[...noted, ...inner].map((each) => `a/layout/${each}`));
    expect(keys.layoutsIn(entries)).toEqual(noted);
  });
});
