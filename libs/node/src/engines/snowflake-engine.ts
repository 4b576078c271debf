import type { EventEmitter } from 'node:events';
import type { Layout } from '@raindrop/core';
import { type SnowflakeGenerator, wallClock } from '@raindrop/core/internal';
import type { IdEngine } from '../ports/id-engine.js';
import type { SnowflakeServiceStatus } from '../ports/id-service-status.js';
import { Saturation } from './saturation.js';
import { tellListeners } from '../system/tell-listeners.js';
import type { Worker } from '../ports/worker.js';
import { monotonicClock } from '../system/system-clock.js';

/** Snowflakes, and the worker id they are made with. */
export class SnowflakeEngine implements IdEngine {
  readonly sharded = undefined;
  private readonly saturation: Saturation;

  constructor(
    readonly calls: SnowflakeGenerator,
    private readonly worker: Worker,
  ) {
    this.saturation = new Saturation(calls.layout.idsPerSecond, monotonicClock.now());
  }

  get layout(): Layout {
    return this.calls.layout;
  }

  tell(events: EventEmitter): void {
    this.worker.onEvent((event) => {
      if (event.type === 'lease-renewed') this.saturation.measure(this.calls.counters.issued, monotonicClock.now());
      tellListeners(events, event);
    });
  }

  status(service: string): SnowflakeServiceStatus {
    const { expiresAt, fingerprint } = this.layout;
    const daysLeft = expiresAt === null ? null : Math.floor((expiresAt.getTime() - wallClock.now()) / 86_400_000);
    const saturation = this.saturation.share;
    const { counters } = this.calls;
    const { assigner, guarantee } = this.worker;
    return {
      ...{ service, idMode: 'snowflake', assigner, guarantee, fingerprint, expiresAt, daysLeft, saturation },
      ...this.worker.status(),
      counters,
    };
  }

  afterRestore(): void {
    this.worker.afterRestore();
  }

  close(): Promise<void> {
    return this.worker.close();
  }
}
