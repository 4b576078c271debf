import cluster from 'node:cluster';
import { createLayout, type Layout, type RaindropError } from '@raindrop/core';
import { LeaseLostError, NotReadyError, SnowflakeGenerator } from '@raindrop/core/internal';
import fc from 'fast-check';
import { runs } from '../../tier.js';
import { settle, VirtualTime } from '../../support/engine/virtual-time.js';
import { IdService, type IdServiceStatus } from '@raindrop/nestjs';
import { sharedIdRing } from '@raindrop/nestjs/threads';
import { StaticTenure } from '../../../libs/core/src/generator/tenure.js';
import type { SourcedEngine } from '../../../libs/node/src/engines/sourced-engine.js';
import { ClusterIdBroker, type BrokeredIds } from '../../../libs/node/src/cluster/cluster-id-broker.js';
import {
  clusterPrimaryOver,
  MARK,
  type ClusterPrimaryOptions,
} from '../../../libs/node/src/cluster/cluster-primary.js';
import { ClusterPair } from './cluster-pair.js';

const LAYOUT = createLayout(
  { startTimeStamp: '2024-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
  Date.parse('2026-01-01'),
);
const OTHER = createLayout(
  { startTimeStamp: '2025-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
  Date.parse('2026-01-01'),
);

/** A primary with a service of worker 5, and its workers. */
class Bench {
  readonly time = new VirtualTime('2026-01-01');
  readonly generator = new SnowflakeGenerator({ layout: LAYOUT, tenure: new StaticTenure(5, 0) }, this.time);
  trouble: RaindropError | undefined;
  readonly ids: BrokeredIds = {
    name: 'default',
    layout: LAYOUT,
    status: () => ({ idMode: 'snowflake', guarantee: 'reserved' }) as IdServiceStatus,
    nextStringsAsync: (...call) =>
      this.trouble === undefined ? this.generator.nextStringsAsync(...call) : Promise.reject(this.trouble),
  };
  readonly broker = new ClusterIdBroker(this.ids);
  readonly pairs: ClusterPair[] = [];

  fork(): ClusterPair {
    const pair = new ClusterPair();
    this.broker.serve(pair.child);
    this.pairs.push(pair);
    return pair;
  }

  /** @param layout null for the primary’s */
  open(pair: ClusterPair, options?: ClusterPrimaryOptions, layout: Layout | null = LAYOUT): Promise<SourcedEngine> {
    return clusterPrimaryOver(pair.process, options, this.time).open({ layout: layout ?? undefined });
  }
}

let bench: Bench;
beforeEach(() => (bench = new Bench()));
afterEach(() => bench.broker.close());

describe('A worker of a cluster', () => {
  it('issues IDs of the primary, with its worker id, in every form', async () => {
    const engine = await bench.open(bench.fork());
    const ids = new IdService('default', engine);
    expect(ids.parse(ids.nextId())).toMatchObject({ workerId: 5 });
    expect(ids.workerId).toBe(5);
    expect(ids.layout).toBe(LAYOUT);
    const all = [
      await ids.nextIdAsync(),
      ...(await ids.nextIdsAsync(500)),
      BigInt(await ids.nextStringAsync('orders')),
    ];
    expect(new Set(all.map((id) => ids.parse(id).workerId))).toEqual(new Set([5]));
    expect(ids.status()).toMatchObject({
      ...{
        service: 'default',
        idMode: 'snowflake',
        assigner: 'cluster',
        guarantee: 'declared',
        state: 'held',
        workerId: 5,
      },
      lastError: undefined,
      ...{ fingerprint: LAYOUT.fingerprint, counters: { issued: 503, codes: 1 } },
    });
    await ids.onApplicationShutdown();
    expect(ids.status()).toMatchObject({ state: 'closed', workerId: undefined, leaseLeftMs: 0 });
    expect(ids.refusal()).toMatchObject({ errorCode: 'CLOSED' });
  });

  it('asks in few messages, one for a batch', async () => {
    const pair = bench.fork();
    const engine = await bench.open(pair);
    expect(pair.sent).toEqual([
      {
        ...{ raindrop: MARK, service: 'default', count: 64, waitMs: 2_400 },
        request: expect.stringMatching(/^[\w-]{16}\.0$/) as unknown,
      },
      {
        ...{ raindrop: MARK, layout: LAYOUT.fingerprint, answers: expect.any(String) as unknown },
        ids: Array.from({ length: 64 }, () => expect.stringMatching(/^\d+$/) as unknown),
      },
    ]);
    await engine.calls.nextIdAsync('orders');
    expect(pair.sent[2]).toMatchObject({ code: 'orders' });
  });

  it('shares a row with 63 others: no ID twice, each one’s own increasing', async () => {
    const engines = await Promise.all(Array.from({ length: 64 }, () => bench.open(bench.fork())));
    const all = new Set<bigint>();
    for (let round = 0; round < 20; round++) {
      for (const { calls } of engines) {
        const batch = await calls.nextIdsAsync(50);
        for (const id of batch) all.add(id);
        expect(batch).toEqual([...batch].sort((a, b) => (a < b ? -1 : 1)));
      }
      await bench.time.advance(1);
    }
    expect(all.size).toBe(64 * 20 * 50);
  });

  it('listens to the channel only while it waits for an answer', async () => {
    const pair = bench.fork();
    const engine = await bench.open(pair);
    const listeners = (): number[] => ['message', 'disconnect'].map((event) => pair.process.listenerCount(event));
    expect(listeners()).toEqual([0, 0]);
    const waiting = engine.calls.nextIdsAsync(1_000);
    expect(listeners()).toEqual([1, 1]);
    await waiting;
    await settle();
    expect(listeners()).toEqual([0, 0]);
    pair.up = () => 'lost';
    await expect(
      Promise.all([engine.calls.nextIdAsync('a', { timeoutMs: 1 }), bench.time.advance(1)]),
    ).rejects.toThrow();
    expect(listeners()).toEqual([1, 1]);
    engine.calls.close();
    await bench.time.advance(3_000);
    expect(listeners()).toEqual([0, 0]);
  });

  it('gets an error of the primary with its code, message and retryable', async () => {
    const engine = await bench.open(bench.fork());
    bench.trouble = new NotReadyError('nothing yet');
    await expect(
      Promise.all([engine.calls.nextIdAsync('a', { timeoutMs: 100 }), bench.time.advance(100)]),
    ).rejects.toMatchObject({
      errorCode: 'WAIT_TIMEOUT',
      cause: { cause: { errorCode: 'NOT_READY', retryable: true } },
    });
    bench.trouble = undefined;
    await expect(engine.calls.nextIdAsync('x'.repeat(129))).rejects.toMatchObject({ errorCode: 'INVALID_CODE' });
  });

  it('goes on from its buffer while the primary has no lease, then waits, and goes on when it is back', async () => {
    const engine = await bench.open(bench.fork());
    bench.trouble = new LeaseLostError(5, 'it ran out');
    for (let left = 64; left > 0; left--) engine.calls.nextId();
    await settle();
    expect(() => engine.calls.nextId()).toThrow(
      "The ClusterIdBroker of the service 'default' in the primary refused: Worker 5 may not issue IDs: it ran out",
    );
    expect(engine.status('default')).toMatchObject({ state: 'held', lastError: { errorCode: 'LEASE_LOST' } });
    const waiting = engine.calls.nextIdAsync();
    await bench.time.advance(1_000);
    bench.trouble = undefined;
    await bench.time.advance(1_000);
    expect(LAYOUT.unpack(await waiting).workerId).toBe(5);
  });

  it('fails at once when the primary is gone and the buffer used up; those who wait as well', async () => {
    const pair = bench.fork();
    const engine = await bench.open(pair);
    bench.trouble = new LeaseLostError(5, 'it ran out');
    const waiting = expect(engine.calls.nextIdsAsync(1_000)).rejects.toMatchObject({ errorCode: 'PRIMARY_GONE' });
    pair.disconnect();
    await waiting;
    expect(engine.status('default')).toMatchObject({ state: 'lost', workerId: undefined, leaseLeftMs: 0 });
    // No other worker gets the IDs that were taken.
    for (let left = 64; left > 0; left--) engine.calls.nextId();
    expect(engine.calls.refusal()).toMatchObject({ errorCode: 'PRIMARY_GONE', retryable: false });
    expect(() => engine.calls.nextId()).toThrow('The channel to the primary is closed');
    await expect(engine.calls.nextIdAsync()).rejects.toMatchObject({ errorCode: 'PRIMARY_GONE' });
    await expect(bench.open(pair)).rejects.toMatchObject({ errorCode: 'PRIMARY_GONE' });
  });

  it('empties its rings for threads when it is told that it is a copy, whatever listeners before them throw', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const engine = await bench.open(bench.fork(), { minStep: 2_000 });
    const ids = new IdService('default', engine);
    const suspicions: unknown[] = [];
    ids.events.on('lease-suspect', () => {
      throw new Error('pager is down');
    });
    ids.events.on('lease-suspect', (event) => suspicions.push(event));
    const ring = sharedIdRing(ids, { boostPower: 0, logger: { warn: () => {} } });
    expect(ring.status()).toMatchObject({ state: 'open' });
    expect(ring.status().left).toBeGreaterThan(0);
    ids.afterRestore();
    expect(warned).toHaveBeenCalledWith("A listener of 'lease-suspect' threw: pager is down", 'RaindropWarning');
    warned.mockRestore();
    expect(suspicions).toMatchObject([{ workerId: 5, reason: 'this memory was restored from a snapshot' }]);
    expect(ring.status()).toMatchObject({ state: 'failed', left: 0, refusal: { errorCode: 'LEASE_SUSPECT' } });
    ring.close();
  });

  it('drops what is in its buffer when it gets old, also without a primary', async () => {
    const pair = bench.fork();
    const engine = await bench.open(pair);
    pair.disconnect();
    await bench.time.advance(10_000);
    expect(engine.calls.counters).toMatchObject({ issued: 0 });
    expect(engine.calls.status()[0]!.left).toBe(0);
  });

  it('does not start with another layout than the primary’s, nor without a broker, nor in a process that was not forked', async () => {
    await expect(bench.open(bench.fork(), {}, OTHER)).rejects.toMatchObject({
      errorCode: 'REMOTE_LAYOUT',
      message: expect.stringContaining(LAYOUT.fingerprint) as unknown,
    });
    const alone = expect(bench.open(new ClusterPair())).rejects.toMatchObject({
      errorCode: 'WAIT_TIMEOUT',
      message: expect.stringContaining(`the ClusterIdBroker of the service 'default' in the primary`) as unknown,
    });
    await bench.time.advance(30_000);
    await alone;
    const channel = { on: () => undefined, off: () => undefined };
    await expect(clusterPrimaryOver(channel).open({ layout: LAYOUT })).rejects.toThrow(
      /idSource = clusterPrimary\(\): requires a process forked.* Omit idSource in the primary/,
    );
  });

  it('takes the layout of the primary when it is given none, and no other afterwards', async () => {
    const pair = bench.fork();
    const engine = await bench.open(pair, {}, null);
    expect(engine.layout.fingerprint).toBe(LAYOUT.fingerprint);
    await engine.calls.nextIdAsync('orders');
    expect(pair.sent[2]).toMatchObject({ code: 'orders' });
    pair.down = (message) => ({ becomes: { ...(message as object), layout: OTHER.fingerprint } });
    await expect(engine.calls.nextIdAsync('another')).rejects.toMatchObject({ errorCode: 'REMOTE_LAYOUT' });
    pair.down = (message) => ({ becomes: { ...(message as object), layout: 'a layout' } });
    const waiting = expect(engine.calls.nextIdAsync('none', { timeoutMs: 100 })).rejects.toMatchObject({
      ...{ errorCode: 'WAIT_TIMEOUT', cause: { cause: { errorCode: 'INVALID_REMOTE_ANSWER' } } },
    });
    await bench.time.advance(100);
    await waiting;
  });

  it('finds a broker that comes later', async () => {
    const pair = new ClusterPair();
    const opening = bench.open(pair);
    await bench.time.advance(1_000);
    bench.broker.serve(pair.child);
    await bench.time.advance(3_000);
    expect((await opening).calls.refusal()).toBeUndefined();
  });
});

describe('The channel', () => {
  it('may repeat, lose and mangle messages: no ID twice, and everybody is answered', async () => {
    const rubbish = fc.oneof(fc.anything(), fc.constant({ raindrop: MARK, answers: 'x' }));
    const trouble = fc.oneof(
      { weight: 4, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom('lost' as const, 'twice' as const) },
      { weight: 1, arbitrary: rubbish.map((becomes) => ({ becomes })) },
    );
    const troubles = fc.array(trouble, { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(troubles, troubles, async (up, down) => {
        const pairs = [bench.fork(), bench.fork()];
        const engines = await Promise.all(pairs.map((pair) => bench.open(pair, { opTimeoutMs: 50, retryMaxMs: 50 })));
        for (const pair of pairs) {
          pair.up = () => up.shift();
          pair.down = () => down.shift();
        }
        const settled = Promise.allSettled(
          Array.from({ length: 20 }, (_, index) => engines[index % 2]!.calls.nextIdsAsync(50)),
        );
        await bench.time.advance(5_000);
        const ids = (await settled).flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
        expect(new Set(ids).size).toBe(ids.length);
        for (const { calls } of engines) calls.close();
      }),
      { numRuns: runs(100) },
    );
  });

  it('carries the messages of others past us, in both directions', async () => {
    const pair = bench.fork();
    const engine = await bench.open(pair);
    const heard: unknown[] = [];
    pair.process.on('message', (message) => heard.push(message));
    pair.child.on('message', (message) => heard.push(message));
    const before = pair.sent.length;
    const strangers = [null, 'text', 7, [], {}, { raindrop: 1 }, { service: 'default' }, { raindrop: MARK }];
    for (const stranger of strangers) {
      pair.process.emit('message', stranger);
      pair.child.emit('message', stranger as object, undefined as never);
    }
    await settle();
    expect(heard).toHaveLength(2 * strangers.length);
    expect(pair.sent).toHaveLength(before);
    expect(engine.calls.refusal()).toBeUndefined();
  });

  const ask = { raindrop: MARK, service: 'default', request: 'r' };
  it.each([
    ['a count that is none', { count: '5' }, 'INVALID_BATCH'],
    ['a count of nothing', { count: 0 }, 'INVALID_BATCH'],
    ['no count', {}, 'INVALID_BATCH'],
    ['a code that is none', { count: 1, code: 7 }, 'INVALID_CODE'],
  ])('gets a request with %s refused by the primary', async (_, more, errorCode) => {
    const pair = bench.fork();
    pair.child.emit('message', { ...ask, ...more }, undefined as never);
    await settle();
    expect(pair.sent).toMatchObject([{ answers: 'r', problem: { errorCode, retryable: false } }]);
    expect(bench.generator.counters.issued).toBe(0);
  });

  it('carries 10,000 IDs at most in one answer', async () => {
    const pair = bench.fork();
    pair.child.emit('message', { ...ask, count: 1e9 }, undefined as never);
    await settle();
    await bench.time.advance(1_000);
    expect(pair.sent).toMatchObject([{ answers: 'r', ids: { length: 10_000 } }]);
  });

  it('gets no answer to a request without a number, or for a service of another name', async () => {
    const pair = bench.fork();
    for (const more of [{ request: undefined }, { request: 7 }, { service: 'orders' }]) {
      pair.child.emit('message', { ...ask, count: 1, ...more }, undefined as never);
    }
    await settle();
    expect(pair.sent).toEqual([]);
    expect(bench.generator.counters.issued).toBe(0);
  });

  it('carries no more of an unexpected error than that there was one', async () => {
    const pair = bench.fork();
    bench.trouble = new Error('password=secret') as RaindropError;
    pair.child.emit('message', { ...ask, count: 1 }, undefined as never);
    await settle();
    expect(JSON.stringify(pair.sent)).not.toContain('secret');
    expect(pair.sent).toMatchObject([{ problem: { retryable: true } }]);
  });
});

describe('A broker', () => {
  it('gives as many as the largest batch of its service when more are wanted', async () => {
    const small = new SnowflakeGenerator(
      { layout: LAYOUT, tenure: new StaticTenure(5, 0), options: { maxBatch: 10 } },
      bench.time,
    );
    Object.assign(bench.ids, { nextStringsAsync: small.nextStringsAsync.bind(small) });
    const engine = await bench.open(bench.fork());
    expect(engine.calls.status()[0]!.left).toBe(10);
    expect(await engine.calls.nextIdsAsync(100)).toHaveLength(100);
  });

  it('hears the workers of the cluster, until it is closed', async () => {
    const answers: unknown[] = [];
    const worker = { isConnected: () => true, send: (answer: unknown) => answers.push(answer) };
    const request = { raindrop: MARK, service: 'default', request: 'r', count: 1 };
    cluster.emit('message', worker, request);
    await settle();
    expect(answers).toMatchObject([{ answers: 'r', ids: [expect.any(String)] }]);
    bench.broker.close();
    cluster.emit('message', worker, request);
    await settle();
    expect(answers).toHaveLength(1);
  });

  it('leaves no listener on a child that has ended, was deserted or served twice', () => {
    const pair = bench.fork();
    bench.broker.serve(pair.child);
    expect(pair.child.listenerCount('message')).toBe(1);
    pair.child.emit('exit', 0, null);
    expect(pair.child.listenerCount('message')).toBe(0);
    const stop = bench.broker.serve(pair.child);
    stop();
    stop();
    bench.broker.serve(pair.child);
    bench.broker.close();
    expect(pair.child.listenerCount('message')).toBe(0);
  });

  it('is the only one of its service: a second would answer every request as well', async () => {
    expect(() => new ClusterIdBroker(bench.ids)).toThrow(
      /service = "default": already has a ClusterIdBroker: call its serve\(child\)/,
    );
    const others = { ...bench.ids, name: 'orders' };
    const before = cluster.listenerCount('message');
    const other = new ClusterIdBroker(others);
    expect(cluster.listenerCount('message')).toBe(before + 1);
    other.close();
    other.close();
    expect(cluster.listenerCount('message')).toBe(before);
    new ClusterIdBroker(others).close();
    expect((await bench.open(bench.fork())).calls.refusal()).toBeUndefined();
  });

  it('gives way to another one when its service was closed', () => {
    const pair = bench.fork();
    const before = cluster.listenerCount('message');
    const next = { ...bench.ids };
    Object.assign(bench.ids, { status: () => ({ ...next.status(), state: 'closed' }) });
    const successor = new ClusterIdBroker(next);
    expect(cluster.listenerCount('message')).toBe(before);
    expect(pair.child.listenerCount('message')).toBe(0);
    bench.broker.close();
    expect(() => new ClusterIdBroker(next)).toThrow('already has a ClusterIdBroker');
    successor.close();
  });

  it('sends nothing to a child that has ended meanwhile', async () => {
    const pair = bench.fork();
    const engine = bench.open(pair).catch((error: unknown) => error);
    await Promise.resolve();
    pair.disconnect();
    await settle();
    expect(pair.sent).toHaveLength(1);
    expect(await engine).toMatchObject({ errorCode: 'PRIMARY_GONE' });
  });
});
