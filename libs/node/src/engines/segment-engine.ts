import type { SegmentGenerator, ShardedGenerator } from '@raindrop/core/internal';
import type { IdEngine } from '../ports/id-engine.js';
import type { SegmentServiceStatus } from '../ports/id-service-status.js';

/** Numbers from segments, by code and for apps. */
export class SegmentEngine implements IdEngine {
  readonly layout = undefined;
  private isClosed = false;

  constructor(
    readonly calls: SegmentGenerator,
    readonly sharded: ShardedGenerator | undefined,
    private readonly startCodes: readonly string[],
  ) {}

  /** Segments come and go without events. */
  tell(): void {}

  status(service: string): SegmentServiceStatus {
    const codes = this.calls.status();
    const sharded = this.sharded?.status();
    return {
      ...{ service, idMode: 'numberSection', state: this.isClosed ? 'closed' : 'ready', codes },
      ...{ startCodes: this.startCodes, sharded },
      lastError: codes.find(({ lastError }) => lastError !== undefined)?.lastError ?? sharded?.lastError,
      counters: this.calls.counters,
    };
  }

  afterRestore(): void {
    this.calls.afterRestore();
    this.sharded?.afterRestore();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([this.calls.close(), this.sharded?.close()]);
  }
}
