import { SharedIdRing } from '@raindrop/core/internal';
import type { SharedIdRingOptions } from '@raindrop/core';
import type { Logger } from '../ports/logger.js';
import type { IdService } from '../id-service.js';
import { RingsOfService } from './rings-of-service.js';
import { splitLogger } from './split-logger.js';
import { threadPorts } from './thread-ports.js';

/** The options of {@link sharedIdRing}. */
export interface ThreadRingOptions extends SharedIdRingOptions {
  /** Default: warnings on standard error. */
  logger?: Pick<Logger, 'warn'>;
}

/**
 * Makes a ring of a service's IDs for worker threads; pass its `handle` to them. Filling begins before this returns; it
 * empties itself while the service's lease is lost or in doubt, and is closed with the service.
 * @throws NoLayoutError for numbers from segments; ConfigurationError naming every option that is wrong
 */
export function sharedIdRing(ids: IdService, options: ThreadRingOptions = {}): SharedIdRing {
  const [logger, ringOptions] = splitLogger<SharedIdRingOptions>(options);
  const rings = RingsOfService.of(ids);
  const ring = new SharedIdRing(ids, ringOptions, threadPorts(logger), (closed) => rings.delete(closed));
  if (ring.status().state !== 'closed') rings.add(ring);
  return ring;
}
