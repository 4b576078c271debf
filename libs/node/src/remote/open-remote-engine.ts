import { PrefetchedIds } from '@raindrop/core/internal';
import type { Layout, PrefetchPorts, ResolvedPrefetchOptions } from '@raindrop/core';
import { SourcedEngine, type Origin } from '../engines/sourced-engine.js';
import { RemoteBatchSource } from './remote-batch-source.js';
import type { RemoteTransport } from './remote-transport.js';

export interface RemoteEngineOptions {
  readonly transport: RemoteTransport;
  /** Undefined takes the service's. */
  readonly layout: Layout | undefined;
  readonly prefetch: ResolvedPrefetchOptions;
  /** Kept at hand from the start on, besides IDs without a code. */
  readonly codes: readonly string[];
  readonly ports: PrefetchPorts;
}

/**
 * IDs that a service makes; settles when some are at hand.
 * @throws WaitTimeoutError, with its cause, when the service does not answer within ten times `opTimeoutMs`;
 * RemoteIdsRefusedError and RemoteLayoutError at once when they cannot pass by themselves; InvalidCodeError
 */
export async function openRemoteEngine(options: RemoteEngineOptions): Promise<SourcedEngine> {
  const { transport, layout, prefetch, codes, ports } = options;
  const source = new RemoteBatchSource(transport, prefetch, ports, layout);
  const calls = new PrefetchedIds(source, ports, prefetch);
  try {
    await calls.start(codes);
    // Nothing starts without an answer, and each one names its layout.
    const origin = (): Origin => ({
      assigner: 'remote',
      // What whoever named the service vouches for.
      guarantee: 'declared',
      state: source.isAnswering ? 'held' : 'lost',
      workerId: source.workerId,
    });
    return new SourcedEngine(calls, source.layout!, origin, () => source.close());
  } catch (error) {
    calls.close();
    source.close();
    throw error;
  }
}
