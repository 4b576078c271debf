import { caught } from '../../../../../test/support/engine/caught.js';
import { settle, VirtualTime } from '../../../../../test/support/engine/virtual-time.js';
import { ClosedError } from '../../lease/lease-errors.js';
import type { AppSegmentStore } from '../segment-store.js';
import { SegmentExhaustedError, SegmentStoreUnavailableError } from '../segment-errors.js';
import { MemoryAppSegmentStore, MemoryAppSegmentTable } from '../memory-segment-store.js';
import {
  InvalidAppError,
  InvalidGatePassError,
  NoShardedIdLeftError,
  ShardedIdsNotReadyError,
  UnknownAppError,
  UnknownShardError,
} from './sharded-errors.js';
import { ShardedGenerator } from './sharded-generator.js';
import { parseShardedId } from './sharded-id.js';

const PHONE = { app: 7, gatePass: '13900139000' };

describe('Sharded IDs', () => {
  let table: MemoryAppSegmentTable;
  let time: VirtualTime;
  let ids: ShardedGenerator;

  beforeEach(async () => {
    table = new MemoryAppSegmentTable();
    time = new VirtualTime('2026-03-01T00:00:00Z');
    ids = generator();
    await ids.start();
    await ids.registerApp(7, 'shop', 'the web shop');
  });

  function generator(store: AppSegmentStore = new MemoryAppSegmentStore(table)): ShardedGenerator {
    return new ShardedGenerator(store, time);
  }

  it('count from 1 within the shard of the gate pass', async () => {
    expect(await ids.nextShardedAsync(PHONE)).toBe(16_384n + 48n * 256n + 7n);
    expect(parseShardedId(ids.nextSharded(PHONE))).toEqual({ index: 2n, shard: 48, app: 7 });
    expect(parseShardedId(await ids.nextShardedAsync({ app: 7, gatePass: 'zhangsan' }))).toEqual({
      index: 1n,
      shard: 12,
      app: 7,
    });
    expect(ids.nextString(PHONE)).toBe(String(3 * 16_384 + 48 * 256 + 7));
    expect(await ids.nextStringAsync(PHONE)).toBe(String(4 * 16_384 + 48 * 256 + 7));
  });

  it('of many apps, processes and gate passes are all different', async () => {
    const processes = [ids, generator(), generator()];
    for (const each of [0, 1, 255]) await ids.registerApp(each, `app ${each}`);
    await Promise.all(processes.slice(1).map((each) => each.start()));
    const issued = new Set<bigint>();
    let calls = 0;
    for (const process of processes) {
      for (let i = 0; i < 4_000; i++) {
        issued.add(await process.nextShardedAsync({ app: [0, 1, 7, 255][i % 4]!, gatePass: `user${i}` }));
        calls++;
      }
    }
    expect(issued.size).toBe(calls);
  });

  it('are refused for what is no app or no gate pass, before anything else', async () => {
    const fresh = generator();
    for (const app of [-1, 256, 1.5, '7', undefined]) {
      const request = { app: app as number, gatePass: 'x' };
      caught(InvalidAppError, () => fresh.nextSharded(request));
      await expect(fresh.nextShardedAsync(request)).rejects.toBeInstanceOf(InvalidAppError);
    }
    caught(InvalidGatePassError, () => fresh.nextSharded({ app: 7, gatePass: '' }));
    await expect(ids.registerApp(256, 'x')).rejects.toBeInstanceOf(InvalidAppError);
  });

  it('are not ready (-1) before the apps were read, and say why', async () => {
    const store = new MemoryAppSegmentStore(table);
    const fresh = generator(store);
    expect(caught(ShardedIdsNotReadyError, () => fresh.nextSharded(PHONE))).toMatchObject({
      legacyCode: -1,
      retryable: true,
    });
    jest.spyOn(store, 'apps').mockRejectedValueOnce(new Error('no route'));
    await expect(fresh.start()).rejects.toBeInstanceOf(SegmentStoreUnavailableError);
    expect(caught(ShardedIdsNotReadyError, () => fresh.nextSharded(PHONE)).message).toContain('no route');
    await time.advance(120_000);
    expect(fresh.status()).toMatchObject({ isReady: true, lastError: undefined });
  });

  it('know no app (-2) that was not registered', () => {
    const error = caught(UnknownAppError, () => ids.nextSharded({ app: 8, gatePass: 'x' }));
    expect(error).toMatchObject({ errorCode: 'UNKNOWN_APP', legacyCode: -2, retryable: false, app: 8 });
  });

  it('know no shard (-3) whose row is missing', async () => {
    table.rows.get(7)!.shards.delete(48);
    const error = ids.nextShardedAsync(PHONE);
    await expect(error).rejects.toBeInstanceOf(UnknownShardError);
    await expect(error).rejects.toMatchObject({ errorCode: 'UNKNOWN_SHARD', legacyCode: -3, app: 7, shard: 48 });
  });

  it('say when nothing is left in the queue (-4), and why', async () => {
    const error = caught(NoShardedIdLeftError, () => ids.nextSharded(PHONE));
    expect(error).toMatchObject({ errorCode: 'NO_SHARDED_ID_LEFT', legacyCode: -4, retryable: true });
    expect(error.cause.errorCode).toBe('SEGMENT_NOT_READY');
    await settle();
    expect(ids.nextSharded(PHONE)).toBe(16_384n + 48n * 256n + 7n);
  });

  it('say so after the wait as well', async () => {
    const store = new MemoryAppSegmentStore(table);
    store.source = () => ({ reserve: () => new Promise(() => {}), giveBack: () => Promise.resolve(false) });
    const slow = generator(store);
    await slow.start();
    const call = slow.nextShardedAsync(PHONE, { timeoutMs: 50 });
    const refused = expect(call).rejects.toMatchObject({ legacyCode: -4, cause: { errorCode: 'WAIT_TIMEOUT' } });
    await time.advance(50);
    await refused;
  });

  it('end at the limit of the whole ID, not of the index', async () => {
    const limit = 10n * 16_384n + 48n * 256n + 7n;
    table.rows.get(7)!.shards.get(48)!.maxLimitId = limit;
    const issued = [];
    for (let i = 0; i < 10; i++) issued.push(await ids.nextShardedAsync(PHONE));
    expect(issued.at(-1)).toBe(limit);
    await settle();
    expect(caught(SegmentExhaustedError, () => ids.nextSharded(PHONE)).maxLimitId).toBe(limit);
  });

  it('stop for an app that was removed from the table, within two minutes, also for those who wait', async () => {
    const store = new MemoryAppSegmentStore(table);
    const process = generator(store);
    await process.start();
    await process.nextShardedAsync(PHONE);
    store.source = () => ({ reserve: () => new Promise(() => {}), giveBack: () => Promise.resolve(false) });
    const waits = process.nextShardedAsync({ app: 7, gatePass: 'zhangsan' }, { timeoutMs: 1_000_000 });
    const refused = expect(waits).rejects.toBeInstanceOf(UnknownAppError);
    table.rows.delete(7);
    expect(process.nextSharded(PHONE)).toBeDefined();
    await time.advance(120_000);
    caught(UnknownAppError, () => process.nextSharded(PHONE));
    await refused;
    const counters = { issued: 2, reservations: 1, reserved: 1_000 };
    expect(process.status()).toMatchObject({ apps: [], shardsInUse: 0, counters });
  });

  it('start for an app that another process registered, within two minutes', async () => {
    await generator().registerApp(9, 'elsewhere');
    caught(UnknownAppError, () => ids.nextSharded({ app: 9, gatePass: 'x' }));
    await time.advance(120_000);
    expect(await ids.nextShardedAsync({ app: 9, gatePass: 'x' })).toBeDefined();
  });

  it('keep the apps they know when a look fails, and do not let a slow look undo a later one', async () => {
    const store = new MemoryAppSegmentStore(table);
    const process = generator(store);
    await process.start();
    const apps = jest.spyOn(store, 'apps').mockRejectedValueOnce(new Error('away'));
    await time.advance(120_000);
    expect(process.status()).toMatchObject({ isReady: true, lastError: { errorCode: 'SEGMENT_STORE_UNAVAILABLE' } });
    expect(await process.nextShardedAsync(PHONE)).toBeDefined();

    let answerLate!: () => void;
    apps.mockImplementationOnce(() => new Promise((resolve) => (answerLate = () => resolve([]))));
    await time.advance(120_000);
    await process.registerApp(9, 'new');
    answerLate();
    await settle();
    expect(process.status().apps.map(({ id }) => id)).toEqual([7, 9]);
  });

  it('give back at the end what was not used, and are closed from the first moment on', async () => {
    await ids.nextShardedAsync(PHONE);
    const closed = ids.close();
    caught(ClosedError, () => ids.nextSharded(PHONE));
    await expect(ids.registerApp(9, 'late')).rejects.toBeInstanceOf(ClosedError);
    await closed;
    await ids.close();
    expect(table.rows.get(7)!.shards.get(48)!.maxId).toBe(1n);
    expect(time.pending.size).toBe(0);
  });

  it('never use what was at hand when the process was copied', async () => {
    await ids.nextShardedAsync(PHONE);
    ids.afterRestore();
    expect(parseShardedId(await ids.nextShardedAsync(PHONE)).index).toBeGreaterThan(1_000n);
  });
});
