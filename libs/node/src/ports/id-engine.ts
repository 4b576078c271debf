import type { EventEmitter } from 'node:events';
import type { IdCalls, Layout } from '@raindrop/core';
import type { ShardedGenerator } from '@raindrop/core/internal';
import type { IdServiceStatus } from './id-service-status.js';

/** Stands behind a service: snowflakes of a worker, or numbers from segments. */
export interface IdEngine {
  /** The generator itself, without a layer between: each costs a nanosecond. */
  readonly calls: IdCalls;
  /** Of snowflakes only. */
  readonly layout: Layout | undefined;
  /** Of segments, when they were asked for. */
  readonly sharded: ShardedGenerator | undefined;
  /** Emits the engine's events here, from now on. */
  tell(events: EventEmitter): void;
  /** What the service says of itself. */
  status(service: string): IdServiceStatus;
  /** What was granted before is not used any more. */
  afterRestore(): void;
  /** Gives back what is held. Never rejects. */
  close(): Promise<void>;
}
