import type { SqlWorkerStore } from '../../../libs/node/src/worker-table/sql-worker-store.js';
import { openStore, takeRow } from '../../support/stores/open-store.js';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { until } from '../../support/until.js';
import { FaultProxy, type ProxyFault } from './fault-proxy.js';
import { WORKER_TABLE } from './worker-update.js';
import { updatesOf } from './write-traffic.js';

describe.each(['mariadb', 'postgres'] as const)('A fault proxy before %s', (kind) => {
  let database: TestDatabase;
  let proxy: FaultProxy;
  /** Through the proxy. */
  let client: SqlWorkerStore;
  /** Straight to the server. */
  let admin: SqlWorkerStore;
  let fired: ProxyFault[];

  beforeAll(async () => {
    database = await testDatabase(kind);
    admin = openStore(database.options);
    await admin.prepare({ min: 1, max: 1 });
  });

  afterAll(async () => {
    await admin.close();
    await database.drop();
  });

  beforeEach(async () => {
    fired = [];
    const { host, port } = database.options as { host: string; port: number };
    proxy = await FaultProxy.before({ host, port }, updatesOf(WORKER_TABLE), (fault) => fired.push(fault));
    client = openStore(through());
    await takeRow(client, 1, 'before');
  });

  afterEach(async () => {
    await client.close();
    await proxy.stop();
  });

  const through = (): TestDatabase['options'] => ({ ...database.options, host: '127.0.0.1', port: proxy.port });

  const token = async (): Promise<string | undefined> => (await admin.readRow(1)).row?.token;

  /** The client drops a call that takes too long, as the lease does: here when it hangs, and `meanwhile` has been. */
  async function giveUpOn(
    call: Promise<unknown>,
    hangs: () => boolean,
    meanwhile = (): Promise<unknown> => Promise.resolve(),
  ): Promise<void> {
    call.catch(() => undefined);
    await until('the call to hang', hangs);
    await meanwhile();
    client.abandon();
    await expect(call).rejects.toThrow('dropped before there was an answer');
  }

  it('lets everything pass while there is no fault', async () => {
    await expect(takeRow(client, 1, 'taken')).resolves.toBe(true);
    expect(await token()).toBe('taken');
    expect(fired).toEqual([]);
  });

  it('cuts before an UPDATE reaches the server: the row is as it was', async () => {
    proxy.nextWrite({ kind: 'cutBefore', afterMs: 0 });
    const { row } = await admin.readRow(1);
    await expect(takeRow(client, 1, 'lost')).rejects.toThrow();
    expect(await token()).toBe('before');
    expect(fired).toEqual(['cutBefore']);
    await expect(takeRow(client, 1, 'next')).resolves.toBe(true);
    // Nothing was written in between.
    expect((await admin.readRow(1)).row).toMatchObject({ version: row!.version + 1, token: 'next' });
  });

  it('swallows the answer to an UPDATE: the row is changed, and the client sees an error', async () => {
    proxy.nextWrite({ kind: 'unanswered', afterMs: 0 });
    await expect(takeRow(client, 1, 'executed')).rejects.toThrow();
    expect(fired).toEqual(['unanswered']);
    expect(await token()).toBe('executed');
  });

  it('does not count an unanswered UPDATE that has changed nothing', async () => {
    const { row } = await client.readRow(1);
    await takeRow(admin, 1, 'thief');
    proxy.nextWrite({ kind: 'unanswered', afterMs: 0 });
    const write = client.write({
      id: 1,
      expected: { version: row!.version, token: row!.token },
      token: 'mine',
      odometers: row!.odometers,
      holder: 'test',
      layout: '',
      lane: 0,
      code: 'test',
      timeUnit: 1,
      leaseMs: 60_000,
    });
    await expect(write).rejects.toThrow();
    expect(await token()).toBe('thief');
    expect(fired).toEqual([]);
  });

  it('delivers an UPDATE when the client has given up: no caller knows that the row changed', async () => {
    proxy.nextWrite({ kind: 'late', afterMs: 200 });
    await giveUpOn(
      takeRow(client, 1, 'ghost'),
      () => !proxy.isArmed,
      async () => {
        expect(await token()).toBe('before');
        expect(fired).toEqual([]);
      },
    );
    await until('the ghost', () => fired.length > 1);
    expect(fired).toEqual(['late', 'ghost']);
    expect(await token()).toBe('ghost');
  });

  it('tells a late UPDATE that came too late to change anything', async () => {
    proxy.nextWrite({ kind: 'late', afterMs: 200 });
    const again = openStore(through());
    await giveUpOn(
      takeRow(client, 1, 'ghost'),
      () => !proxy.isArmed,
      () => expect(takeRow(again, 1, 'retried')).resolves.toBe(true),
    );
    await until('the late one', () => fired.length > 0);
    await again.close();
    expect(fired).toEqual(['late']);
    expect(await token()).toBe('retried');
  });

  it('refuses connections until it no longer does, and counts it once', async () => {
    proxy.refuse(true);
    await expect(client.readRow(1)).rejects.toThrow();
    await expect(client.readRow(1)).rejects.toThrow();
    expect(fired).toEqual(['refused']);
    proxy.refuse(false);
    await expect(client.readRow(1)).resolves.toBeDefined();
  });

  it('keeps silent on open and on new connections, and closes none', async () => {
    proxy.halfOpen(true);
    await giveUpOn(takeRow(client, 1, 'unheard'), () => fired.length > 0);
    await giveUpOn(client.readRow(1), () => proxy.unheardClients > 0);
    expect(fired).toEqual(['halfOpen']);
    proxy.halfOpen(false);
    await expect(client.readRow(1)).resolves.toBeDefined();
    expect(await token()).toBe('before');
  });

  it('delays both ways', async () => {
    proxy.delay(80);
    const begun = performance.now();
    await client.readRow(1);
    expect(performance.now() - begun).toBeGreaterThan(155);
    expect(fired).toEqual(['delayed']);
    proxy.delay(0);
  });
});
