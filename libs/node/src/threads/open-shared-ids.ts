import { SharedIds } from '@raindrop/core/internal';
import type { SharedIdRingHandle, SharedIdsOptions } from '@raindrop/core';
import type { Logger } from '../ports/logger.js';
import { splitLogger } from './split-logger.js';
import { threadPorts } from './thread-ports.js';

/** The options of {@link openSharedIds}. */
export interface ThreadIdsOptions extends SharedIdsOptions {
  /** Default: warnings on standard error. */
  logger?: Pick<Logger, 'warn'>;
}

/**
 * Opens the IDs of a ring, in any thread of the process that made it: `openSharedIds(workerData.ids)`.
 * @throws ConfigurationError for what is no handle, and naming every option that is wrong
 */
export function openSharedIds(handle: SharedIdRingHandle, options: ThreadIdsOptions = {}): SharedIds {
  const [logger, idsOptions] = splitLogger<SharedIdsOptions>(options);
  return new SharedIds(handle, idsOptions, threadPorts(logger));
}
