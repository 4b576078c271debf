import { TypeOrmModule } from '@nestjs/typeorm';
import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { IdService, openIdService, RaindropModule } from '@raindrop/nestjs';
import type { IdService as OpenedService } from '@raindrop/node';
import { Column, DataSource, Entity } from 'typeorm';
import { serviceLayout } from '../../../apps/id-service/src/service-layout.js';
import { remoteIds, type RemoteIdsOptions, type RemoteIdSource } from '@raindrop/node/remote';
import type { ServiceProcess } from '../service/service-process.js';
import { repeated } from '../../support/processes/repeated.js';
import { leaseStatus } from '../../support/module/lease-status.js';
import { startApp, typeorm } from '../../support/module/module-fixture.js';
import { freePort } from '../../support/servers/free-port.js';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { until } from '../../support/until.js';
import { codesOf } from './codes-of.js';
import { startIdleProcess } from './idle-process.js';
import { ReplayingProxy } from './replaying-proxy.js';
import { startService } from './service-process.js';
import { SlowWay } from './slow-way.js';

jest.setTimeout(240_000);

@Entity()
class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column()
  note!: string;
}

const PATIENCE_MS = 60_000;

let database: TestDatabase;
let port: number;
let service: ServiceProcess;
const open: { close(): Promise<unknown> }[] = [];

beforeAll(async () => {
  database = await testDatabase('sqlite');
  port = await freePort();
  service = await startService(database.options, port);
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});
afterAll(async () => {
  await service.stop('SIGKILL');
  await database.drop();
});

/** Where the service is, or what leads to it. */
function source(given: Partial<RemoteIdsOptions> = {}, at = port): RemoteIdSource {
  return remoteIds({ url: `http://127.0.0.1:${at}`, opTimeoutMs: 20_000, ...given });
}

async function client(idSource: RemoteIdSource): Promise<OpenedService> {
  const ids = await openIdService({ idSource, asyncTimeoutMs: PATIENCE_MS });
  open.push(ids);
  return ids;
}

/** Whether a call was answered before the event loop turned: from memory. */
async function isAnsweredAtOnce(call: () => Promise<unknown>): Promise<boolean> {
  let hasTurned = false;
  const turn = setImmediate(() => (hasTurned = true));
  await call();
  clearImmediate(turn);
  return !hasTurned;
}

describe('IDs of a service elsewhere', () => {
  it('several clients take IDs of one service: none twice, each one’s own increasing, in every form', async () => {
    const clients = await Promise.all(Array.from({ length: 6 }, () => client(source())));
    const taken = await Promise.all(
      clients.map(async (ids) => {
        const mine: bigint[] = [];
        for (let round = 0; round < 40; round++) {
          mine.push(await ids.nextIdAsync(), BigInt(await ids.nextStringAsync()), ...(await ids.nextIdsAsync(97)));
          mine.push(...(await ids.nextStringsAsync(50)).map(BigInt), ...(await ids.fillAsync(new BigInt64Array(51))));
        }
        return mine;
      }),
    );
    expect(taken.flat()).toHaveLength(6 * 40 * 200);
    expect(repeated(taken.flat())).toBe(0);
    for (const mine of taken) expect(mine.findIndex((id, at) => at > 0 && id <= mine[at - 1]!)).toBe(-1);
    const [ids] = clients;
    const { layout } = ids!;
    expect(layout.fingerprint).toMatch(/^1000@1767225600:t33\.w10\.b1\.s18\.e1=0$/);
    const { workerId } = ids!.parse(taken[0]![0]!);
    expect(ids!.status()).toMatchObject({ assigner: 'remote', state: 'held', workerId, lastError: undefined });
    expect(await ids!.nextIdAsync('a code, é🙂')).toBeGreaterThan(0n);
  });

  it('fetches many codes at once, and no copy of the process uses what was fetched before', async () => {
    const codes = Array.from({ length: 100 }, (_, index) => `code ${index}`);
    const ids = await client(source({ codes }));
    const before = await Promise.all(codes.map((code) => ids.nextIdsAsync(10, code)));
    ids.afterRestore();
    const after = await Promise.all(codes.map((code) => ids.nextIdsAsync(10, code)));
    // 64 were at hand: the other 54 of each are never seen.
    codes.forEach((_, index) => expect(after[index]![0]! - before[index]!.at(-1)!).toBeGreaterThan(2n * 54n));
  });

  it('saves entities, and needs no layout options', async () => {
    const app = await startApp([
      typeorm({ ...database.options, entities: [Order], synchronize: true }),
      TypeOrmModule.forFeature([Order]),
      RaindropModule.forRoot({ idSource: source(), asyncTimeoutMs: PATIENCE_MS }),
    ]);
    open.push(app);
    const ids = app.get(IdService);
    expect(ids.layout.fingerprint).toMatch(/^1000@1767225600:t33/);
    const orders = app.get(DataSource).getRepository(Order);
    await orders.clear();
    await orders.save({ note: 'one' });
    await orders.save(Array.from({ length: 500 }, (_, index) => ({ note: String(index) })));
    const stored = await orders.find();
    expect(new Set(stored.map(({ id }) => id)).size).toBe(501);
    expect(new Set(stored.map(({ id }) => ids.parse(id).workerId))).toEqual(new Set([ids.workerId]));
    expect(await ids.nextIdsAsync(64)).toHaveLength(64);
    expect(ids.nextId()).toBeGreaterThan(0n);
    await app.close();
    await expect(ids.nextIdAsync()).rejects.toMatchObject({ errorCode: 'CLOSED' });
  });

  it('refuses layout options that are not the service’s, and accepts those that are', async () => {
    const idSource = source();
    const app = await startApp([RaindropModule.forRoot({ ...serviceLayout, idSource })]);
    await app.close();
    const other = { ...serviceLayout, startTimeStamp: '2025-01-01' };
    await expect(startApp([RaindropModule.forRoot({ ...other, idSource })])).rejects.toMatchObject({
      errorCode: 'REMOTE_LAYOUT',
    });
  });

  it('leaves a process that has nothing more to do to its end', async () => {
    expect(await startIdleProcess(port, 'once').taken).toBe(100);
  });

  it.each([2, 50])('lets a warm caller wait for no round trip, with the service %i ms away', async (delayMs) => {
    const slow = await SlowWay.to(port, delayMs / 2);
    try {
      const fetched = { minStep: 200, maxStep: 200, maxAgeMs: 3_600_000 };
      const ids = await client(source(fetched, slow.port));
      expect(await isAnsweredAtOnce(() => ids.nextIdsAsync(2_000))).toBe(false);
      const left = (): number => 200 * leaseStatus(ids).renewals - leaseStatus(ids).counters.issued;
      await until('IDs are at hand', () => left() >= 100);
      const before = leaseStatus(ids);
      let late = 0;
      for (let batch = 1; batch <= 20; batch++) {
        // The next ones are fetched as soon as half of a batch is used.
        while (left() > 50) if (!(await isAnsweredAtOnce(() => ids.nextIdAsync()))) late++;
        await until('the next ones are at hand', () => left() > 50);
      }
      const { renewals, counters } = leaseStatus(ids);
      expect(late).toBe(0);
      expect(counters.exhausted).toBe(before.counters.exhausted);
      expect(renewals).toBeGreaterThanOrEqual(before.renewals + 20);
    } finally {
      for (const each of open.splice(0)) await each.close();
      await slow.stop();
    }
  });

  it('goes on from memory when the service is killed, then fails with types, then recovers by itself', async () => {
    const ids = await client(source({ minStep: 1_000, opTimeoutMs: 2_000, retryMaxMs: 500, maxAgeMs: 3_600_000 }));
    const taken = await ids.nextIdsAsync(100);
    const another = startIdleProcess(port, 'outage');
    await another.goesOn;
    await service.stop('SIGKILL');
    taken.push(...(await ids.nextIdsAsync(500)));
    const [error] = await Promise.allSettled([ids.nextIdsAsync(5_000, undefined, { timeoutMs: 3_000 })]);
    const codes = codesOf((error as PromiseRejectedResult).reason);
    expect(codes).toEqual(['WAIT_TIMEOUT', 'IDS_NOT_READY', 'ID_SOURCE_UNAVAILABLE']);
    expect(ids.status()).toMatchObject({ state: 'lost' });
    expect(await another.taken).toBeGreaterThanOrEqual(200);
    const waiting = ids.nextIdsAsync(5_000);
    service = await startService(database.options, port);
    taken.push(...(await waiting));
    expect(ids.status()).toMatchObject({ state: 'held', lastError: undefined });
    expect(repeated(taken)).toBe(0);
  });
});

describe('Behind a cache that answers POST as before', () => {
  let proxy: ReplayingProxy;
  beforeEach(async () => {
    proxy = await ReplayingProxy.before(`http://127.0.0.1:${port}`);
  });
  afterEach(() => proxy.close());

  const options = (): RemoteIdsOptions => ({ url: proxy.url, maxStep: 64, retryBaseMs: 5, retryMaxMs: 50 });

  interface Taken {
    readonly ids: bigint[];
    /** What calls failed with. */
    readonly codes: Set<string>;
  }

  /** What two clients get under replays until that is `enough`, and after them. */
  async function take(enough: (taken: Taken) => boolean): Promise<Taken> {
    const codes = new Set<string>();
    const ids: bigint[] = [];
    const clients = [await client(remoteIds(options())), await client(remoteIds(options()))];
    const some = async (each: (typeof clients)[number]): Promise<void> => {
      try {
        ids.push(...(await each.nextIdsAsync(10, undefined, { timeoutMs: 20 })));
      } catch (error) {
        for (const code of codesOf(error)) codes.add(code);
      }
    };
    proxy.isReplaying = true;
    const all = async (): Promise<unknown> => Promise.all(clients.map(some));
    const isEnough = (): boolean => proxy.replayed > 10 && enough({ ids, codes });
    await until('there were enough replays', async () => (await all(), isEnough()), { withinMs: PATIENCE_MS });
    proxy.isReplaying = false;
    const most = ids.length + 300;
    await until('there are new IDs', async () => (await all(), ids.length > most), { withinMs: PATIENCE_MS });
    return { ids, codes };
  }

  it('no ID is handed out twice: stored answers are refused, and the next fresh one is used', async () => {
    const { ids } = await take(({ codes }) => codes.has('STALE_REMOTE_ANSWER'));
    expect(repeated(ids)).toBe(0);
  });

  it('IDs would be handed out twice if the client did not check which request an answer is for', async () => {
    proxy.isForging = true;
    proxy.isReplaying = true;
    const taken: bigint[] = [];
    // A client compares an answer with its own last two: the same answer goes to one client after another.
    for (let count = 1; count <= 5; count++) {
      const ids = await client(remoteIds(options()));
      taken.push(...(await ids.nextIdsAsync(10)));
    }
    expect(proxy.replayed).toBeGreaterThanOrEqual(4);
    expect(repeated(taken)).toBe(40);
  });
});
