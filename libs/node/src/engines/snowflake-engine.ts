import type { EventEmitter } from 'node:events';
import type { Layout } from '@raindrop/core';
import { daysUntil, type SnowflakeGenerator, wallClock, type Worker } from '@raindrop/core/internal';
import type { IdEngine, SnowflakeServiceStatus } from '../ports/id-engine.js';
import type { WorkerSource } from '../ports/worker.js';
import { emitSafely } from '../system/listeners.js';
import { monotonicClock } from '../system/system-ports.js';

/** Two renewals may be only some milliseconds apart. The load is measured over this time at least, ms. */
const SHORTEST_MS = 1_000;

/** A generator of snowflakes, and the worker whose id they bear. */
export class SnowflakeEngine implements IdEngine {
  readonly sharded = undefined;
  private readonly saturation: Saturation;

  constructor(
    readonly calls: SnowflakeGenerator,
    private readonly worker: Worker,
    private readonly source: WorkerSource,
  ) {
    this.saturation = new Saturation(calls.layout.idsPerSecond, monotonicClock.now());
  }

  get layout(): Layout {
    return this.calls.layout;
  }

  emitTo(events: EventEmitter): void {
    this.worker.onEvent((event) => {
      if (event.type === 'lease-renewed') this.saturation.measure(this.calls.counters.issued, monotonicClock.now());
      emitSafely(events, event);
    });
  }

  status(service: string): SnowflakeServiceStatus {
    const { expiresAt, fingerprint } = this.layout;
    const { assigner, guarantee } = this.source;
    return {
      service,
      idMode: 'snowflake',
      assigner,
      guarantee,
      fingerprint,
      expiresAt,
      daysLeft: daysUntil(expiresAt, wallClock.now()),
      saturation: this.saturation.share,
      ...this.worker.status(),
      counters: this.calls.counters,
    };
  }

  afterRestore(): void {
    this.worker.afterRestore();
  }

  close(): Promise<void> {
    return this.worker.close();
  }
}

/**
 * How much of its capacity a worker used between the last two renewals that were at least a second apart: the IDs
 * issued, as a share of what the layout allows one code in that time. Example: 8,000 IDs in 2 s, and a layout of
 * 4,096,000 IDs a second and code, are 0.001. Each renewal measures it, so it needs no timer, and all readers see the
 * same value.
 */
export class Saturation {
  /** Null before the first measurement; above 1 when several codes together issued more than one code can. */
  share: number | null = null;

  private issuedBefore = 0;
  private measuredMs: number;

  constructor(
    private readonly idsPerSecond: number,
    nowMs: number,
  ) {
    this.measuredMs = nowMs;
  }

  /**
   * @param issued IDs issued since the start
   * @param nowMs monotonic
   */
  measure(issued: number, nowMs: number): void {
    const elapsedMs = nowMs - this.measuredMs;
    if (elapsedMs < SHORTEST_MS) return;
    this.share = ((issued - this.issuedBefore) * 1_000) / (elapsedMs * this.idsPerSecond);
    this.issuedBefore = issued;
    this.measuredMs = nowMs;
  }
}
