import type { SegmentSource, SegmentStore } from '@raindrop/core';
import type { RedisSegmentBuffer } from './redis-segment-buffer.js';

/** A store of codes whose segments several processes share in Redis. */
export class RedisSegmentStore implements SegmentStore {
  /** @param database where they are reserved; closed together with the buffer */
  constructor(
    private readonly database: SegmentStore,
    private readonly buffer: RedisSegmentBuffer,
  ) {}

  prepare(): Promise<void> {
    return this.database.prepare();
  }

  source(code: string): SegmentSource {
    return this.buffer.code(code, this.database.source(code));
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return this.database.durabilityWarnings();
  }

  async close(): Promise<void> {
    await this.buffer.close();
    await this.database.close();
  }
}
