import type { EventEmitter } from 'node:events';
import type { Layout, LeaseStatus } from '@raindrop/core';
import { daysUntil, type PrefetchedIds, wallClock } from '@raindrop/core/internal';
import type { IdEngine, SnowflakeServiceStatus } from '../ports/id-engine.js';
import { emitSafely } from '../system/listeners.js';
import type { WorkerSource } from '../ports/worker.js';

/** An engine's knowledge of the process that issues its IDs. */
export interface RemoteWorker extends WorkerSource {
  /** `lost` while that process gives no IDs. */
  readonly state: Extract<LeaseStatus['state'], 'held' | 'lost'>;
  /** Its worker id; undefined when unknown. */
  readonly workerId: number | undefined;
}

/** The positions in the status: an ID of another process has none here. */
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
    private readonly remoteWorker: () => RemoteWorker,
    private readonly closeSource: () => void = () => {},
  ) {}

  /** The other process has the lease and its events. Here only a restored memory is an event. */
  emitTo(events: EventEmitter): void {
    this.events = events;
  }

  /**
   * `leaseLeftMs` is infinite while the other process gives IDs, else 0; IDs that it gave before stay usable.
   * `renewals` and `failures` count fetches of batches. Of the counters, `exhausted` counts the calls that found too
   * few IDs here.
   */
  status(service: string): SnowflakeServiceStatus {
    const { expiresAt, fingerprint } = this.layout;
    const { issued, codes, batches, failures, starved } = this.calls.counters;
    const { assigner, guarantee, state, workerId } = this.remoteWorker();
    return {
      service,
      idMode: 'snowflake',
      assigner,
      guarantee,
      fingerprint,
      expiresAt,
      saturation: null,
      daysLeft: daysUntil(expiresAt, wallClock.now()),
      state: this.isClosed ? 'closed' : state,
      workerId: this.isClosed ? undefined : workerId,
      lane: 0,
      leaseLeftMs: this.isClosed || state === 'lost' ? 0 : Number.POSITIVE_INFINITY,
      base: NOWHERE,
      limit: NOWHERE,
      clockOffsetMs: undefined,
      renewals: batches,
      failures,
      lastError: this.calls.status().find(({ lastError }) => lastError !== undefined)?.lastError,
      counters: { issued, codes, exhausted: starved, flips: 0, holds: 0 },
    };
  }

  afterRestore(): void {
    this.calls.afterRestore();
    const workerId = this.remoteWorker().workerId ?? -1;
    const reason = 'this memory was restored from a snapshot';
    if (this.events !== undefined) emitSafely(this.events, { type: 'lease-suspect', workerId, reason });
  }

  close(): Promise<void> {
    this.isClosed = true;
    this.calls.close();
    this.closeSource();
    return Promise.resolve();
  }
}
