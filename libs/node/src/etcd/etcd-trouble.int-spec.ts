import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import { takeRow } from '../../../../test/support/stores/open-store.js';
import { EtcdServers } from '../../../../test/support/servers/etcd-servers.js';
import { freePort } from '../../../../test/support/servers/free-port.js';
import { until } from '../../../../test/support/until.js';
import { EtcdRefusedError, EtcdUnavailableError, MOST_BYTES } from './etcd-gateway.js';
import { KeyWorkerStore } from '../key-values/key-worker-store.js';
import { EtcdKeyValues } from './etcd-key-values.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';

jest.setTimeout(60_000);

const REACH_MS = 185_000;
const ROWS = { min: 1, max: 3 };
/** What a busy machine needs to compare a password. */
const HASHING_MS = 10_000;

describe('An etcd in trouble', () => {
  const open: { close(): unknown }[] = [];

  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close();
  });

  const start = async (options?: Parameters<typeof EtcdServers.start>[0]): Promise<EtcdServers> => {
    const etcd = await EtcdServers.start(options);
    open.push({ close: () => etcd.stop() });
    return etcd;
  };

  const storeAt = (
    endpoints: readonly string[],
    account?: { name: string; password: string },
    opTimeoutMs = 1_000,
  ): KeyWorkerStore => {
    const address = { endpoints: endpoints.map((url) => new URL(url)), account, ca: undefined };
    const store = new KeyWorkerStore({
      values: new EtcdKeyValues(address, opTimeoutMs, 'test/'),
      prefix: 'test/',
      liveGraceMs: 0,
      reachMs: REACH_MS,
    });
    open.push(store);
    return store;
  };

  const prepared = async (...given: Parameters<typeof storeAt>): Promise<KeyWorkerStore> => {
    const store = storeAt(...given);
    await store.prepare(ROWS);
    return store;
  };

  const listening = async (server: Server): Promise<string> => {
    open.push({
      close: () => (server as Server & { closeAllConnections?(): void }).closeAllConnections?.() ?? server.close(),
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  const answering = (listener: RequestListener): Promise<string> => listening(createServer(listener).unref());

  it('is served by the endpoints that answer, also when the first one is dead or silent', async () => {
    const { endpoints } = await start();
    const dead = `http://127.0.0.1:${await freePort()}`;
    const silent = await listening(createTcpServer((socket) => void socket.on('error', () => undefined)).unref());
    for (const first of [dead, silent]) {
      const store = await prepared([first, ...endpoints]);
      expect((await store.readTable()).rows).toHaveLength(3);
      expect(await takeRow(store, 1)).toBe(true);
    }
    // One that falls silent later, too: a write asks first what it is to replace.
    const store = await prepared([...endpoints, silent]);
    (store['values'] as EtcdKeyValues)['gateway']['first'] = 1;
    expect(await takeRow(store, 2)).toBe(true);
  });

  it.each<[string, RequestListener]>([
    ['a text', (_, response) => void response.end('hello')],
    ['a list', (_, response) => void response.end('[1, 2]')],
    ['nothing', (_, response) => void response.end('{}')],
    ['a redirect', (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['an error without a message', (_, response) => void response.writeHead(500).end('{"error":{"a":1},"code":"x"}')],
    ['half an answer', (_, response) => void response.write('{"a', () => response.destroy())],
    ['a nonsensical key', (_, response) => void response.end('{"header":{"cluster_id":"1"},"kvs":[{"key":7}]}')],
    [
      'too much',
      (_, response) => {
        response.on('error', () => undefined);
        for (let sent = 0; sent <= MOST_BYTES; sent += 65_536) response.write('x'.repeat(65_536));
      },
    ],
  ])('is refused with one typed error when it answers %s', async (_, listener) => {
    const store = storeAt([await answering(listener)]);
    await expect(store.readTable()).rejects.toBeInstanceOf(EtcdUnavailableError);
    await expect(store.prepare(ROWS)).rejects.toBeInstanceOf(EtcdUnavailableError);
    await expect(store.readRow(1)).rejects.toBeInstanceOf(EtcdUnavailableError);
    await expect(store.fence(fenceRequest(1_000))).rejects.toBeInstanceOf(EtcdUnavailableError);
  });

  it('says what to do when it is full, shows its rows all the same, and goes on once there is room', async () => {
    const etcd = await start({ quotaBytes: 1_048_576 });
    const store = await prepared(etcd.endpoints);
    expect(await takeRow(store, 1, 'mine')).toBe(true);
    const value = Buffer.alloc(65_536).toString('base64');
    const full = async (): Promise<boolean> =>
      etcd.ask('/v3/kv/put', { key: 'eA==', value }).then(
        () => false,
        (error: Error) => /space exceeded/.test(error.message),
      );
    await until('it to be full', full);
    await expect(takeRow(store, 1, 'again')).rejects.toThrow(/database space exceeded.*alarm disarm/);
    expect((await store.readRow(1)).row!.token).toBe('mine');
    const { header } = await etcd.ask('/v3/kv/range', { key: 'eA==', keys_only: true });
    await etcd.ask('/v3/kv/compaction', { revision: (header as { revision: string }).revision, physical: true });
    await etcd.ask('/v3/maintenance/defragment', {});
    const { alarms } = await etcd.ask('/v3/maintenance/alarm', { action: 'GET' });
    for (const alarm of alarms as object[]) await etcd.ask('/v3/maintenance/alarm', { ...alarm, action: 'DEACTIVATE' });
    expect(await takeRow(store, 1, 'again')).toBe(true);
  });

  it('is refused with the remedy for an account that is wrong or may not, and a token that has ended is had anew', async () => {
    const etcd = await start();
    await etcd.ask('/v3/auth/user/add', { name: 'root', password: 'x' });
    await etcd.ask('/v3/auth/role/add', { name: 'root' });
    await etcd.ask('/v3/auth/user/grant', { user: 'root', role: 'root' });
    await etcd.ask('/v3/auth/user/add', { name: 'plain', password: 'x' });
    await etcd.ask('/v3/auth/role/add', { name: 'ids' });
    await etcd.ask('/v3/auth/user/grant', { user: 'plain', role: 'ids' });
    await etcd.ask('/v3/auth/user/add', { name: 'ghost', password: 'x' });
    const range = { key: Buffer.from('test/').toString('base64'), range_end: Buffer.from('test0').toString('base64') };
    await etcd.ask('/v3/auth/role/grant', { name: 'ids', perm: { permType: 'READWRITE', ...range } });
    await etcd.ask('/v3/auth/enable', {});
    for (const account of [undefined, { name: 'plain', password: 'y' }, { name: 'ghost', password: 'x' }]) {
      const refused = expect(storeAt(etcd.endpoints, account, HASHING_MS).prepare(ROWS)).rejects;
      await refused.toBeInstanceOf(EtcdRefusedError);
      await refused.toMatchObject({ retryable: false, message: expect.stringMatching(/etcdctl role/) as unknown });
    }
    const store = await prepared(etcd.endpoints, { name: 'plain', password: 'x' }, HASHING_MS);
    expect(await takeRow(store, 1)).toBe(true);
    // Its tokens are in memory.
    await etcd.kill(etcd.members[0]!);
    await etcd.start(etcd.members[0]!);
    const took = (): Promise<boolean> => takeRow(store, 1, 'later').catch(() => false);
    await until('it to be served', took);
    expect((await store.readTable()).rows).toHaveLength(3);
  });

  it('loses nothing when its history is compacted', async () => {
    const etcd = await start();
    const store = await prepared(etcd.endpoints);
    expect(await takeRow(store, 1)).toBe(true);
    const { header } = await etcd.ask('/v3/kv/range', { key: 'eA==' });
    await etcd.ask('/v3/kv/compaction', { revision: (header as { revision: string }).revision, physical: true });
    expect(await takeRow(store, 1)).toBe(true);
    expect((await store.readTable()).rows).toHaveLength(3);
  });

  it('frees the row of a holder that is gone as soon as its lease of etcd has ended', async () => {
    const etcd = await start();
    const [holder, other] = [await prepared(etcd.endpoints), await prepared(etcd.endpoints)];
    expect(await takeRow(holder, 2)).toBe(true);
    const left = async (): Promise<number> => {
      const { nowMs, row } = await other.readRow(2);
      return row!.leaseUntilMs - nowMs;
    };
    expect(await left()).toBeGreaterThan(50_000);
    const key = Buffer.from('test/live/2').toString('base64');
    const { kvs } = (await etcd.ask('/v3/kv/range', { key })) as { kvs: { lease: string }[] };
    await etcd.ask('/v3/lease/revoke', { ID: kvs[0]!.lease });
    expect(await left()).toBeLessThanOrEqual(0);
    // The holder, who lives after all, gets another one.
    expect(await takeRow(holder, 2)).toBe(true);
    expect(await left()).toBeGreaterThan(50_000);
  });

  it('was put back to an earlier point, or copied elsewhere: no process acquires before what may be lost is past', async () => {
    const etcd = await start();
    const holder = await prepared(etcd.endpoints);
    await holder.readTable();
    const copy = await etcd.backup();
    const served = async (): Promise<boolean> => takeRow(holder, 1, 'lost').catch(() => false);
    await until('the holder to be served', served);
    // A plain restart bars nothing: the control.
    expect((await holder.readTable()).barredUntilMs).toBeUndefined();

    await etcd.restore(copy);
    const seen = await until('an answer', () => holder.readTable().catch(() => undefined));
    expect(seen.barredUntilMs! - seen.nowMs).toBeGreaterThan(REACH_MS - 20_000);
    // It is written down: who comes now knows it, too.
    const newcomer = await prepared(etcd.endpoints);
    expect((await newcomer.readTable()).barredUntilMs).toBe(seen.barredUntilMs);
    const { odometers } = (await newcomer.readRow(1)).row!;
    expect(Math.min(...odometers.map(({ ms }) => ms))).toBe(seen.barredUntilMs);

    const elsewhere = await start();
    const range = { key: Buffer.from('test/').toString('base64'), range_end: Buffer.from('test0').toString('base64') };
    const { kvs } = (await etcd.ask('/v3/kv/range', range)) as { kvs: { key: string; value: string }[] };
    for (const { key, value } of kvs) await elsewhere.ask('/v3/kv/put', { key, value });
    const moved = await prepared(elsewhere.endpoints);
    const there = await moved.readTable();
    expect(there.barredUntilMs).toBeGreaterThan(seen.barredUntilMs!);
  });
});
