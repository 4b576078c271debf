import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { takeRow } from '../../../../test/support/stores/open-store.js';
import { run, scriptCommand } from '../../../../test/support/processes/run.js';
import { freePort } from '../../../../test/support/servers/free-port.js';
import { NatsServers } from '../../../../test/support/servers/nats-servers.js';
import { until } from '../../../../test/support/until.js';
import { KeyWorkerStore } from '../key-values/key-worker-store.js';
import { systemPorts } from '../system/system-ports.js';
import { NatsBucketError, NatsRefusedError, NatsUnavailableError } from './nats-connection.js';
import { NatsKeyValues } from './nats-key-values.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';

jest.setTimeout(90_000);

const REACH_MS = 185_000;
const ROWS = { min: 1, max: 3 };
const STREAM = 'KV_ids';
const SAFE = { name: STREAM, subjects: ['$KV.ids.>'], max_msgs_per_subject: 16, discard: 'new' };

describe('A NATS in trouble', () => {
  const open: { close(): unknown }[] = [];

  afterEach(async () => {
    jest.restoreAllMocks();
    for (const each of open.splice(0).reverse()) await each.close();
  });

  const start = async (options?: Parameters<typeof NatsServers.start>[0]): Promise<NatsServers> => {
    const nats = await NatsServers.start(options);
    open.push({ close: () => nats.stop() });
    return nats;
  };

  const valuesAt = (servers: readonly string[], account = {}, timeoutMs = 2_000): NatsKeyValues => {
    const { timers } = systemPorts('exact');
    const values = new NatsKeyValues({
      address: { servers, account },
      bucket: 'ids',
      syncAlways: true,
      timeoutMs,
      timers,
    });
    open.push(values);
    return values;
  };

  const storeAt = (...given: Parameters<typeof valuesAt>): KeyWorkerStore =>
    new KeyWorkerStore({ values: valuesAt(...given), prefix: '', liveGraceMs: undefined, reachMs: REACH_MS });

  const prepared = async (...given: Parameters<typeof valuesAt>): Promise<KeyWorkerStore> => {
    const store = storeAt(...given);
    await store.prepare(ROWS);
    return store;
  };

  const listening = async (onSocket: (socket: Socket) => void): Promise<string> => {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      onSocket(socket);
    });
    open.push({ close: () => (server.close(), sockets.forEach((socket) => socket.destroy())) });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  it('is served by the servers that answer, also when the first one is dead or silent', async () => {
    const { addresses } = await start();
    for (const first of [`127.0.0.1:${await freePort()}`, await listening(() => undefined)]) {
      const store = await prepared([first, ...addresses]);
      expect((await store.readTable()).rows).toHaveLength(3);
      expect(await takeRow(store, 1)).toBe(true);
    }
  });

  it.each<[string, (socket: Socket) => void]>([
    ['nothing', () => undefined],
    ['a hang-up', (socket) => socket.destroy()],
    ['a text', (socket) => socket.write('hello\r\n')],
    ['half an introduction', (socket) => socket.write('INFO {"server_id"')],
    ['an introduction of nonsense', (socket) => socket.write('INFO 7\r\n')],
    ['an introduction, and then nothing', (socket) => socket.write('INFO {"version":"2.11.0","max_payload":1000}\r\n')],
    ['an introduction, and then nonsense', (socket) => socket.write('INFO {"version":"2.11.0"}\r\nPONG\r\nMSG x\r\n')],
  ])('is refused with one typed error when it answers %s', async (_, onSocket) => {
    // The client prints what it cannot read.
    jest.spyOn(console, 'log').mockImplementation(() => undefined);
    const store = storeAt([await listening(onSocket)], {}, 500);
    await expect(store.readTable()).rejects.toBeInstanceOf(NatsUnavailableError);
    await expect(store.prepare(ROWS)).rejects.toBeInstanceOf(NatsUnavailableError);
    await expect(store.fence(fenceRequest(1_000))).rejects.toBeInstanceOf(NatsUnavailableError);
    await expect(store.durabilityWarnings()).rejects.toBeInstanceOf(NatsUnavailableError);
  });

  it('is left by every socket when it is silent', async () => {
    const sockets: Socket[] = [];
    const server = await listening((socket) => void sockets.push(socket));
    await expect(storeAt([server], {}, 500).readTable()).rejects.toThrow('does not answer');
    await until('the socket to be closed', () => sockets.length > 0 && sockets.every(({ closed }) => closed));
  });

  it('fences a bucket that is gone: the process that makes it anew begins past what can have been granted', async () => {
    const nats = await start();
    const store = await prepared(nats.addresses);
    expect(await takeRow(store, 1)).toBe(true);
    await nats.ask(`STREAM.DELETE.${STREAM}`);
    const before = Date.now();
    await storeAt(nats.addresses).fence(fenceRequest(95_000));
    const { rows } = await (await prepared(nats.addresses)).readTable();
    expect(rows).toHaveLength(3);
    for (const { odometers } of rows) expect(odometers[0].ms).toBeGreaterThanOrEqual(before + 95_000);
  });

  it('is refused with the remedy for an account that is wrong or may not', async () => {
    const permissions = '{ publish: ["$JS.API.>"], subscribe: ["_INBOX.>"] }';
    const plain = `{ user: plain, password: y, permissions: ${permissions} }`;
    const { addresses } = await start({
      settings: `no_auth_user: root
      authorization { users: [{ user: root, password: x }, ${plain}] }`,
    });
    await prepared(addresses, { user: 'root', pass: 'x' });
    for (const account of [
      { user: 'root', pass: 'no' },
      { user: 'plain', pass: 'y' },
    ]) {
      const refused = expect(storeAt(addresses, account).readTable()).rejects;
      await refused.toBeInstanceOf(NatsRefusedError);
      await refused.toMatchObject({ retryable: false, message: expect.stringMatching(/\$KV\.BUCKET/) as unknown });
    }
  });

  it('without JetStream says so', async () => {
    const { addresses } = await start({ hasJetStream: false });
    await expect(storeAt(addresses, {}, 500).readTable()).rejects.toThrow(/JetStream is off/);
  });

  it('refuses a bucket whose settings lose values, also when they change later', async () => {
    const nats = await start();
    await nats.ask(`STREAM.CREATE.${STREAM}`, { ...SAFE, storage: 'memory' });
    await expect(storeAt(nats.addresses).prepare(ROWS)).rejects.toBeInstanceOf(NatsBucketError);
    await nats.ask(`STREAM.DELETE.${STREAM}`);
    const store = await prepared(nats.addresses);
    expect(await takeRow(store, 1)).toBe(true);
    const { config } = (await nats.ask(`STREAM.INFO.${STREAM}`)) as { config: object };
    await nats.ask(`STREAM.UPDATE.${STREAM}`, {
      ...config,
      max_age: 3_600_000_000_000,
      duplicate_window: 1_000_000_000,
    });
    await expect(takeRow(store, 1)).rejects.toThrow(/bucket ids is not safe.*values expire/);
    await nats.ask(`STREAM.UPDATE.${STREAM}`, config);
    expect(await takeRow(store, 1)).toBe(true);
  });

  it('takes nothing while it is full, and goes on once there is room', async () => {
    const nats = await start();
    const store = await prepared(nats.addresses);
    expect(await takeRow(store, 1, 'mine')).toBe(true);
    const { config, state } = (await nats.ask(`STREAM.INFO.${STREAM}`)) as { config: object; state: { bytes: number } };
    await nats.ask(`STREAM.UPDATE.${STREAM}`, { ...config, max_bytes: state.bytes + 1 });
    await expect(takeRow(store, 2)).rejects.toThrow(/NATS is unavailable.*maximum bytes exceeded/);
    await nats.ask(`STREAM.UPDATE.${STREAM}`, config);
    expect(await takeRow(store, 2)).toBe(true);
    expect((await store.readRow(1)).row!.token).toBe('mine');
  });

  it('says of a put between which a fence came that it was not done', async () => {
    const { addresses } = await start();
    const store = await prepared(addresses);
    const [mine, other] = [valuesAt(addresses), valuesAt(addresses)];
    const seen = await mine.read('reading', new Set(['row/1', 'fence']));
    const change = { seen, key: 'row/1', text: seen.entries.get('row/1')! };
    const fence = await other.read('reading', new Set(['fence']));
    const text = JSON.stringify({ count: 1, atMs: 1, untilMs: 2 });
    expect(await other.change('fencing', { seen: fence, key: 'fence', text })).toBe(true);
    expect(await mine.change('writing', { ...change, guards: ['fence'] })).toBe(false);
    // No process takes it for granted: it was written as of before the fence.
    expect((await store.readRow(1)).row).toMatchObject({ token: '', version: expect.any(Number) as number });
    // The control: without the guard it is done, and a row that has changed is not replaced.
    const again = await mine.read('reading', new Set(['row/1', 'fence']));
    expect(await mine.change('writing', { ...change, seen: again })).toBe(true);
    expect(await mine.change('writing', { ...change, seen: again })).toBe(false);
  });

  it('keeps everything when all servers are killed, and bars no start', async () => {
    const nats = await start({ count: 3 });
    const store = await prepared(nats.addresses, {}, 5_000);
    expect(await takeRow(store, 1, 'mine')).toBe(true);
    await nats.killAll();
    await expect(store.readTable()).rejects.toBeInstanceOf(NatsUnavailableError);
    await nats.startAll();
    const table = await until('an answer', () => store.readTable().catch(() => undefined), { withinMs: 60_000 });
    expect(table.barredUntilMs).toBeUndefined();
    expect((await store.readRow(1)).row!.token).toBe('mine');
    // One of three that stands still is as good as dead.
    const leader = await nats.leader(STREAM);
    leader.child.signal('SIGSTOP');
    const took = (): Promise<boolean> => takeRow(store, 2).catch(() => false);
    await until('another leader', took, { withinMs: 60_000 }).finally(() => leader.child.signal('SIGCONT'));
  });

  it('was put back to an earlier point, or made anew: no process acquires before what may be lost is past', async () => {
    const nats = await start();
    const holder = await prepared(nats.addresses);
    await holder.readTable();
    const copy = await nats.backup();
    const served = (): Promise<boolean> => takeRow(holder, 1, 'lost').catch(() => false);
    await until('the holder to be served', served);
    // A plain restart bars nothing: the control.
    expect((await holder.readTable()).barredUntilMs).toBeUndefined();

    await nats.restore(copy);
    const seen = await until('an answer', () => holder.readTable().catch(() => undefined));
    expect(seen.barredUntilMs! - seen.nowMs).toBeGreaterThan(REACH_MS - 20_000);
    // It is written down: who comes now knows it, too.
    expect((await (await prepared(nats.addresses)).readTable()).barredUntilMs).toBe(seen.barredUntilMs);

    await nats.ask(`STREAM.DELETE.${STREAM}`);
    await prepared(nats.addresses);
    const anew = await holder.readTable();
    expect(anew.barredUntilMs).toBeGreaterThan(seen.barredUntilMs!);
  });

  it('is left with no consumer of ours, and keeps no process alive', async () => {
    const nats = await start();
    const store = await prepared(nats.addresses);
    for (let count = 0; count < 20; count++) await store.readRow(1);
    const consumers = async (): Promise<boolean> => {
      const { state } = (await nats.ask(`STREAM.INFO.${STREAM}`)) as { state: { consumer_count: number } };
      return state.consumer_count === 0;
    };
    await until('no consumer', consumers);
    const { code, stdout, stderr } = await run(
      scriptCommand(resolve(__dirname, '../../../../test/support/stores/read-workers-and-end.ts'), nats.addresses),
      { withinMs: 30_000 },
    );
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '3 rows\n', stderr: '' });
  });
});
