import type { AppSegmentStore, SegmentPorts, SegmentStore } from '@raindrop/core';

/**
 * Puts numbers that several processes share in front of the tables; `redisBuffer()` of `@raindrop/nestjs/redis` is one.
 * A `scope` names the database and the table: processes share numbers of the same scope only. `warn` is told once when the
 * buffer cannot be used, and again after it could.
 */
export interface SegmentBuffer {
  /** @returns a store that closes the given one, too */
  codes(store: SegmentStore, scope: string, ports: SegmentPorts, warn?: (message: string) => void): SegmentStore;
  /** @returns a store that closes the given one, too */
  apps(store: AppSegmentStore, scope: string, ports: SegmentPorts, warn?: (message: string) => void): AppSegmentStore;
}
