import { createLayout } from '@raindrop/core';
import { SnowflakeGenerator } from '@raindrop/core/internal';
import { StaticTenure } from '../../../libs/core/src/generator/tenure.js';
import { ClusterIdBroker } from '../../../libs/node/src/cluster/cluster-id-broker.js';
import { clusterPrimaryOver, type ClusterPrimaryOptions } from '../../../libs/node/src/cluster/cluster-primary.js';
import type { IdServiceStatus } from '@raindrop/node';
import type { SourcedEngine } from '../../../libs/node/src/engines/sourced-engine.js';
import { VirtualTime } from '../../support/engine/virtual-time.js';
import { ClusterPair } from './cluster-pair.js';

/** 256 IDs a second for each code. */
const LAYOUT = createLayout(
  { startTimeStamp: '2024-01-01', timeStampLength: 43, workIdLength: 10, endBitsLength: 1 },
  Date.parse('2026-01-01'),
);

describe('A primary whose codes run out of sequences', () => {
  let time: VirtualTime;
  let generator: SnowflakeGenerator;
  let broker: ClusterIdBroker;
  let pair: ClusterPair;

  function setUp(onExhausted: 'borrow' | 'wait'): void {
    time = new VirtualTime('2026-01-01');
    generator = new SnowflakeGenerator(
      { layout: LAYOUT, tenure: new StaticTenure(5, 0), options: { onExhausted } },
      time,
    );
    broker = new ClusterIdBroker({
      name: 'default',
      layout: LAYOUT,
      status: () => ({ idMode: 'snowflake' }) as IdServiceStatus,
      nextStringsAsync: (...call) => generator.nextStringsAsync(...call),
    });
    pair = new ClusterPair();
    broker.serve(pair.child);
  }
  beforeEach(() => setUp('borrow'));
  afterEach(() => broker.close());

  const open = (options: ClusterPrimaryOptions): Promise<SourcedEngine> =>
    clusterPrimaryOver(pair.process, options, time).open({ layout: LAYOUT });

  it.each([
    { count: 900, opTimeoutMs: 3_000 },
    { count: 1_500, opTimeoutMs: 10_000 },
  ])('takes seconds for a batch of $count, and the worker waits for it', async ({ count, opTimeoutMs }) => {
    const { calls } = await open({ minStep: 16, opTimeoutMs });
    const before = generator.counters.issued;
    const taken = calls.nextIdsAsync(count, undefined, { timeoutMs: 60_000 });
    await time.advance(61_000);
    expect(await taken).toHaveLength(count);
    expect(generator.counters.issued - before).toBeLessThan(2 * count);
    calls.close();
  });

  it('says why before the worker gives up, and issues nothing without a caller', async () => {
    broker.close();
    setUp('wait');
    const { calls } = await open({ minStep: 16, opTimeoutMs: 300, retryBaseMs: 10 });
    generator.nextIds(256, 'x');
    await time.advance(100);
    const refused = expect(calls.nextIdsAsync(50, 'x', { timeoutMs: 500 })).rejects.toThrow('All sequences of tick');
    await time.advance(600);
    await refused;
    calls.close();
  });

  it('leaves the other codes alone, and is there for the status', async () => {
    const engine = await open({ minStep: 64 });
    // More than the primary can issue while an answer is of use.
    const hot = expect(engine.calls.nextIdsAsync(2_000, 'hot', { timeoutMs: 20_000 })).rejects.toMatchObject({
      errorCode: 'WAIT_TIMEOUT',
    });
    let refused = 0;
    for (let looks = 0; looks < 200; looks++) {
      await time.advance(100);
      expect(engine.status('default').state).toBe('held');
      for (let calls = 0; calls < 10; calls++) {
        try {
          engine.calls.nextId('orders');
        } catch {
          refused++;
        }
      }
    }
    await hot;
    // The first calls found nothing at hand.
    expect(refused).toBeLessThan(15);
    engine.calls.close();
  });

  it('that is gone is lost in the status at once', async () => {
    const engine = await open({ maxAgeMs: 86_400_000 });
    pair.disconnect();
    expect(engine.status('default')).toMatchObject({ state: 'lost', leaseLeftMs: 0, workerId: undefined });
    engine.calls.close();
  });
});
