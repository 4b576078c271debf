import type { EventEmitter } from 'node:events';
import type { Layout, LeaseStatus } from '@raindrop/core';
import { type PrefetchedIds, wallClock } from '@raindrop/core/internal';
import type { IdEngine, SnowflakeServiceStatus } from '../ports/id-engine.js';
import { tellListeners } from '../system/listeners.js';
import type { WorkerSource } from '../ports/worker.js';

/** What an engine knows of the process that makes its IDs. */
export interface RemoteWorker extends WorkerSource {
  /** `lost` while no IDs come from there. */
  readonly state: Extract<LeaseStatus['state'], 'held' | 'lost'>;
  /** Of the process that makes them; undefined when unknown. */
  readonly workerId: number | undefined;
}

/** Before the first ID. */
const NOWHERE = [
  { tick: -1, sequence: -1 },
  { tick: -1, sequence: -1 },
] as const;

/** Snowflakes that another process makes, with its worker id. */
export class SourcedEngine implements IdEngine {
  readonly sharded = undefined;
  private isClosed = false;
  private events: EventEmitter | undefined;

  constructor(
    readonly calls: PrefetchedIds,
    readonly layout: Layout,
    private readonly origin: () => RemoteWorker,
    private readonly closeSource: () => void = () => {},
  ) {}

  /** The lease is the other process's, and so are its events, but for what is known here only. */
  tell(events: EventEmitter): void {
    this.events = events;
  }

  /**
   * `leaseLeftMs` has no end while IDs come from there, and is 0 when they do not; what was taken stays ours. `renewals` and `failures` are those of batches; of the
   * counters, `exhausted` counts the calls that found too few IDs at hand.
   */
  status(service: string): SnowflakeServiceStatus {
    const { expiresAt, fingerprint } = this.layout;
    const { issued, codes, batches, failures, starved } = this.calls.counters;
    const { assigner, guarantee, state, workerId } = this.origin();
    return {
      ...{ service, idMode: 'snowflake', assigner, guarantee, fingerprint, expiresAt, saturation: null },
      daysLeft: expiresAt === null ? null : Math.floor((expiresAt.getTime() - wallClock.now()) / 86_400_000),
      state: this.isClosed ? 'closed' : state,
      workerId: this.isClosed ? undefined : workerId,
      lane: 0,
      leaseLeftMs: this.isClosed || state === 'lost' ? 0 : Number.POSITIVE_INFINITY,
      ...{ base: NOWHERE, limit: NOWHERE, clockOffsetMs: undefined },
      ...{ renewals: batches, failures },
      lastError: this.calls.status().find(({ lastError }) => lastError !== undefined)?.lastError,
      counters: { issued, codes, exhausted: starved, flips: 0, holds: 0 },
    };
  }

  afterRestore(): void {
    this.calls.afterRestore();
    const workerId = this.origin().workerId ?? -1;
    const reason = 'this memory was restored from a snapshot';
    if (this.events !== undefined) tellListeners(this.events, { type: 'lease-suspect', workerId, reason });
  }

  close(): Promise<void> {
    this.isClosed = true;
    this.calls.close();
    this.closeSource();
    return Promise.resolve();
  }
}
