import type { Layout, PrefetchOptions, PrefetchPorts } from '@raindrop/core';
import { PrefetchedIds, resolvePrefetchOptions } from '@raindrop/core/internal';
import type { IdSource } from '../ports/id-engine.js';
import { SourcedEngine } from '../engines/sourced-engine.js';
import { systemPorts } from '../system/system-ports.js';
import { ClusterIdSource, type PrimaryChannel } from './cluster-id-source.js';

/** The options say how IDs are fetched from the primary; the rest is among the service's own options. */
export type ClusterPrimaryOptions = Omit<PrefetchOptions, 'maxCodes' | 'maxBatch' | 'asyncTimeoutMs'>;

/**
 * Makes the process that forked this one, by `node:cluster` or `child_process.fork`, the source of a service's IDs: it
 * holds the worker id for all its children, and has a `ClusterIdBroker` of the service.
 *
 * The layout is the primary's, and needs no options here; others are refused at the start. The service has everything it
 * has otherwise; `workerId` is the primary's.
 */
export function clusterPrimary(options: ClusterPrimaryOptions = {}): IdSource {
  return {
    name: 'clusterPrimary()',
    open: ({ name, layout, generator: { maxCodes, maxBatch, asyncTimeoutMs } }) =>
      openClusterEngine({
        service: name,
        layout,
        prefetch: { ...options, maxCodes, maxBatch, asyncTimeoutMs },
      }),
  };
}

interface ClusterEngineOptions {
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
