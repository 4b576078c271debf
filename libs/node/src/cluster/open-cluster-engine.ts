import { PrefetchedIds, resolvePrefetchOptions } from '@raindrop/core/internal';
import type { Layout, PrefetchOptions, PrefetchPorts } from '@raindrop/core';
import { SourcedEngine } from '../engines/sourced-engine.js';
import { systemPorts } from '../system/system-ports.js';
import { ClusterIdSource, type PrimaryChannel } from './cluster-id-source.js';

export interface ClusterEngineOptions {
  /** The name of the service, here and in the primary. */
  readonly service: string;
  /** As in the primary: another one is refused. Left out, it is the primary's. */
  readonly layout?: Layout | undefined;
  readonly prefetch?: PrefetchOptions;
  /** Default `process`. */
  readonly channel?: PrimaryChannel;
  readonly ports?: PrefetchPorts;
}

/**
 * IDs that the process which forked this one makes; settles when some are at hand.
 * @throws ConfigurationError when there is no such process, or an option is wrong; WaitTimeoutError when no broker answers
 * within ten times `opTimeoutMs`; PrimaryRefusedError; PrimaryGoneError; ClusterLayoutError
 */
export async function openClusterEngine(options: ClusterEngineOptions): Promise<SourcedEngine> {
  const { service, layout, channel, ports = systemPorts('exact') } = options;
  const prefetch = resolvePrefetchOptions(options.prefetch);
  const { opTimeoutMs } = prefetch;
  const { timers } = ports;
  const source = new ClusterIdSource({ service, layout, opTimeoutMs, timers }, channel);
  const calls = new PrefetchedIds(source, ports, prefetch);
  try {
    await calls.start();
    // Nothing starts without an answer, and each one names its layout.
    return new SourcedEngine(calls, source.layout!, () => ({
      assigner: 'cluster',
      guarantee: source.origin?.guarantee ?? 'unsafe',
      state: source.isConnected ? 'held' : 'lost',
      workerId: source.isConnected ? source.origin?.workerId : undefined,
    }));
  } catch (error) {
    calls.close();
    throw error;
  }
}
