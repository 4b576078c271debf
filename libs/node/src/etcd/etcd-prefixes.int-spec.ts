import { ConfigurationError } from '@raindrop/core';
import { takeRow } from '../../../../test/support/stores/open-store.js';
import { EtcdServers } from '../../../../test/support/servers/etcd-servers.js';
import { KeyWorkerStore } from '../key-values/key-worker-store.js';
import { EtcdKeyValues, rangeOf, toBase64 } from './etcd-key-values.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';

jest.setTimeout(60_000);

const ROWS = { min: 1, max: 3 };

describe('Tables of workers in one etcd, one prefix inside another', () => {
  let etcd: EtcdServers;
  const stores: KeyWorkerStore[] = [];

  beforeAll(async () => {
    etcd = await EtcdServers.start();
  });

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await etcd.ask('/v3/kv/deleterange', { key: 'AA==', range_end: 'AA==' });
  });

  afterAll(() => etcd?.stop());

  const storeAt = (prefix: string, account?: { name: string; password: string }): KeyWorkerStore => {
    const address = { endpoints: etcd.endpoints.map((url) => new URL(url)), account, ca: undefined };
    const values = new EtcdKeyValues(address, 10_000, prefix);
    const store = new KeyWorkerStore({ values, prefix, liveGraceMs: 0, reachMs: 185_000 });
    stores.push(store);
    return store;
  };

  const put = (key: string, value: string): Promise<unknown> =>
    etcd.ask('/v3/kv/put', { key: toBase64(key), value: toBase64(value) });

  const keysUnder = async (prefix: string): Promise<number> => {
    const { count = '0' } = await etcd.ask('/v3/kv/range', { ...rangeOf(prefix), count_only: true });
    return Number(count);
  };

  const refused = async (store: KeyWorkerStore, ...words: RegExp[]): Promise<void> => {
    const error: unknown = await store.prepare(ROWS).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigurationError);
    const [problem] = (error as ConfigurationError).problems;
    expect(problem!.option).toBe('prefix');
    for (const each of words) expect((error as Error).message).toMatch(each);
  };

  it.each([
    ['a/', 'a/row/'],
    ['a/', 'a/layout/'],
    ['a/', 'a/b/c/'],
    ['a/row/', 'a/'],
    ['a/b/c/', 'a/'],
  ])('refuses, beside the table %s, one at %s before it writes a key', async (there, prefix) => {
    await storeAt(there).prepare(ROWS);
    const before = await keysUnder('a/');
    await refused(storeAt(prefix), new RegExp(`prefix = ${prefix}:`), new RegExp(` ${there} `), /fenceWorkers\(\)/);
    expect(await keysUnder('a/')).toBe(before);
  });

  it('takes prefixes side by side, and one that only begins alike', async () => {
    const prefixes = ['a/b/', 'a/c/', 'a/bc/', 'b/'];
    for (const prefix of [...prefixes, ...prefixes]) await storeAt(prefix).prepare(ROWS);
    for (const prefix of prefixes) expect((await storeAt(prefix).readTable()).rows).toHaveLength(3);
  });

  it('starts beside keys of an application that are called so', async () => {
    await put('a/x/fence', 'white, 3 m');
    await put('a/row/fence', '{"count":"3"}');
    await storeAt('a/').prepare(ROWS);
    await put('b/fence', '[1, 2]');
    await storeAt('b/c/').prepare(ROWS);
    expect((await storeAt('a/').readTable()).rows).toHaveLength(3);
  });

  it('still fences, serves and shows the rows of tables that were laid one inside another before', async () => {
    const outer = storeAt('a/');
    await outer.prepare(ROWS);
    // What the inner one has written.
    const fences = '{"count":0,"atMs":0,"untilMs":0}';
    await put('a/row/fence', fences);
    await put('a/row/state', '{}');
    await put('a/row/row/1', '{}');
    await put('a/row/layout/1000@1672531200:t33.w10.b1.s18.e1=0', '1');
    await put('a/layout/fence', fences);
    await put('a/layout/row/1', '{}');
    const { rows, layouts } = await outer.readTable();
    expect(rows.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(layouts).toEqual([]);
    expect(await takeRow(outer, 1)).toBe(true);
    await outer.rememberLayout('1000@1672531200:t33.w10.b1.s18.e1=0');
    expect(await storeAt('a/').fence(fenceRequest(1_000))).toBe(3);
    await refused(storeAt('a/'), / a\/(row|layout)\/ /);
  });

  it('lets an account start that may not read what lies around its prefix', async () => {
    for (const name of ['root', 'plain', 'wide']) {
      await etcd.ask('/v3/auth/user/add', { name, password: 'x' });
      await etcd.ask('/v3/auth/role/add', { name });
      await etcd.ask('/v3/auth/user/grant', { user: name, role: name });
    }
    const grant = (name: string, prefix: string): Promise<unknown> =>
      etcd.ask('/v3/auth/role/grant', { name, perm: { permType: 'READWRITE', ...rangeOf(prefix) } });
    await grant('plain', 'a/b/c/');
    await grant('wide', 'a/b/');
    await etcd.ask('/v3/auth/enable', {});
    try {
      const plain = storeAt('a/b/c/', { name: 'plain', password: 'x' });
      await plain.prepare(ROWS);
      expect((await plain.readTable()).rows).toHaveLength(3);
      // One key that it may not read hides no other one.
      await refused(storeAt('a/b/c/d/', { name: 'wide', password: 'x' }), / a\/b\/c\/ /);
    } finally {
      const { token } = await etcd.ask('/v3/auth/authenticate', { name: 'root', password: 'x' });
      await etcd.ask('/v3/auth/disable', {}, etcd.members[0], { authorization: String(token) });
    }
  });
});
