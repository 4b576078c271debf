import { takeRow } from '../../../../test/support/stores/open-store.js';
import { EtcdServers } from '../../../../test/support/servers/etcd-servers.js';
import { KeyWorkerStore } from '../key-values/key-worker-store.js';
import { EtcdRefusedError, EtcdUnavailableError } from './etcd-gateway.js';
import { EtcdKeyValues, rangeOf } from './etcd-key-values.js';

jest.setTimeout(60_000);

const ROWS = { min: 1, max: 3 };
const ACCOUNT = { name: 'plain', password: 'x' };
/** What a busy machine needs to compare a password. */
const HASHING_MS = 10_000;

describe('An etcd whose accounts change under a running process', () => {
  const open: { close(): unknown }[] = [];

  afterEach(async () => {
    jest.restoreAllMocks();
    for (const each of open.splice(0).reverse()) await each.close();
  });

  /** An etcd with accounts, which are off. */
  const start = async (options: Parameters<typeof EtcdServers.start>[0] = {}): Promise<EtcdServers> => {
    const etcd = await EtcdServers.start(options);
    open.push({ close: () => etcd.stop() });
    for (const name of ['root', 'plain']) {
      await etcd.ask('/v3/auth/user/add', { name, password: 'x' });
      await etcd.ask('/v3/auth/role/add', { name });
      await etcd.ask('/v3/auth/user/grant', { user: name, role: name });
    }
    const perm = { permType: 'READWRITE', ...rangeOf('test/') };
    await etcd.ask('/v3/auth/role/grant', { name: 'plain', perm });
    return etcd;
  };

  const enable = (etcd: EtcdServers): Promise<unknown> => etcd.ask('/v3/auth/enable', {});

  const asRoot = async (etcd: EtcdServers, path: string, body: object): Promise<unknown> => {
    const { token } = await etcd.ask('/v3/auth/authenticate', { name: 'root', password: 'x' });
    return etcd.ask(path, body, etcd.members[0], { authorization: String(token) });
  };

  let added = 0;
  const addUser = (etcd: EtcdServers): Promise<unknown> =>
    asRoot(etcd, '/v3/auth/user/add', { name: `user${++added}`, password: 'x' });

  const prepared = async ({ endpoints }: EtcdServers): Promise<KeyWorkerStore> => {
    const address = { endpoints: endpoints.map((url) => new URL(url)), account: ACCOUNT, ca: undefined };
    const values = new EtcdKeyValues(address, HASHING_MS, 'test/');
    const store = new KeyWorkerStore({ values, prefix: 'test/', liveGraceMs: 0, reachMs: 185_000 });
    open.push(store);
    await store.prepare(ROWS);
    return store;
  };

  /** The paths of all that a store asks from now on. */
  const watch = (store: KeyWorkerStore): string[] => {
    const { gateway } = store['values'] as unknown as { gateway: { send: (...given: string[]) => Promise<unknown> } };
    const send = gateway.send.bind(gateway);
    const paths: string[] = [];
    jest.spyOn(gateway, 'send').mockImplementation((...given) => {
      paths.push(given[2]!);
      return send(...given);
    });
    return paths;
  };

  const countOf = (paths: readonly string[], end: string): number => paths.filter((path) => path.endsWith(end)).length;

  it.each([false, true])(
    'is served when they are switched on, off and on again (signed tokens: %s)',
    async (signsTokens) => {
      const etcd = await start({ signsTokens });
      const store = await prepared(etcd);
      expect(await takeRow(store, 1)).toBe(true);
      await enable(etcd);
      expect(await takeRow(store, 1, 'with accounts')).toBe(true);
      await asRoot(etcd, '/v3/auth/disable', {});
      expect(await takeRow(store, 1, 'without')).toBe(true);
      await enable(etcd);
      expect((await store.readTable()).rows).toHaveLength(3);
    },
  );

  it('authenticates anew, once a call, when signed tokens became old, and executes each write once', async () => {
    const etcd = await start({ signsTokens: true });
    await enable(etcd);
    const store = await prepared(etcd);
    const values = store['values'];
    const seen = await values.read('x', new Set(['test/mine']));
    await addUser(etcd);
    const paths = watch(store);
    expect(await values.change('a write', { seen, key: 'test/mine', text: 'mine' })).toBe(true);
    expect(paths).toEqual(['/v3/kv/txn', '/v3/auth/authenticate', '/v3/kv/txn']);
    expect(await takeRow(store, 1)).toBe(true);
    expect(countOf(paths, 'authenticate')).toBe(1);
    // A key that was put twice has version 2.
    const { kvs } = (await asRoot(etcd, '/v3/kv/range', { key: Buffer.from('test/mine').toString('base64') })) as {
      kvs: { version: string }[];
    };
    expect(kvs[0]!.version).toBe('1');
  });

  it('serves calls that are under way at once, each with one more token at most', async () => {
    const etcd = await start({ signsTokens: true });
    await enable(etcd);
    const store = await prepared(etcd);
    for (let round = 0; round < 3; round++) {
      await addUser(etcd);
      const paths = watch(store);
      const rows = await Promise.all(Array.from({ length: 8 }, (_, index) => store.readRow((index % 3) + 1)));
      expect(rows.every(({ row }) => row !== undefined)).toBe(true);
      expect(countOf(paths, 'authenticate')).toBeLessThanOrEqual(8);
      jest.restoreAllMocks();
    }
  });

  it('gives up a call, and may be asked again, when each token that it gets is old at once', async () => {
    const etcd = await start({ signsTokens: true });
    await enable(etcd);
    const store = await prepared(etcd);
    const { gateway } = store['values'] as unknown as {
      gateway: { authenticate: (...given: unknown[]) => Promise<string> };
    };
    const authenticate = gateway.authenticate.bind(gateway);
    let asked = 0;
    jest.spyOn(gateway, 'authenticate').mockImplementation(async (...given) => {
      asked++;
      const token = await authenticate(...given);
      await addUser(etcd);
      return token;
    });
    await addUser(etcd);
    const failure: unknown = await store.readRow(1).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EtcdUnavailableError);
    expect(failure).toMatchObject({ retryable: true });
    expect(asked).toBe(1);
    jest.restoreAllMocks();
    expect(await takeRow(store, 1)).toBe(true);
  });

  it('refuses for good an account whose role is taken away, or whose password is another one now', async () => {
    const etcd = await start({ signsTokens: true });
    await enable(etcd);
    const store = await prepared(etcd);
    await asRoot(etcd, '/v3/auth/user/revoke', { name: 'plain', role: 'plain' });
    await expect(store.readTable()).rejects.toBeInstanceOf(EtcdRefusedError);
    await asRoot(etcd, '/v3/auth/user/grant', { user: 'plain', role: 'plain' });
    expect(await takeRow(store, 1)).toBe(true);
    await asRoot(etcd, '/v3/auth/user/changepw', { name: 'plain', password: 'y' });
    await expect(store.readTable()).rejects.toBeInstanceOf(EtcdRefusedError);
  });
});
