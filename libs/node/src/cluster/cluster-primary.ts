import type { PrefetchOptions } from '@raindrop/core';
import type { IdSource } from '../ports/id-source.js';
import { openClusterEngine } from './open-cluster-engine.js';

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
