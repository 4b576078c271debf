import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Timer, Timers } from '@raindrop/core';
import { isMainThread } from 'node:worker_threads';

/** Late enough for whoever enables the hooks after `app.listen()`, and for most tests and scripts to be over. */
const LOOK_AFTER_MS = 10_000;

const MESSAGE =
  'nobody listens to SIGTERM or SIGINT: the worker id is not given back when this process is stopped, and stays taken ' +
  'until its lease ends. Call app.enableShutdownHooks(), or set checkShutdownHooks: false if something else calls app.close()';

/**
 * Warns once when a signal would end the process without a word to Nest. There is no way to ask an application for its
 * hooks: whoever listens to one of the two signals is believed. Worker threads get no signals.
 */
export class ShutdownHooksCheck implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: Timer | undefined;

  /** @param warn undefined when there is nothing to give back */
  constructor(
    private readonly timers: Timers,
    private readonly warn: ((message: string) => void) | undefined,
  ) {}

  onApplicationBootstrap(): void {
    if (this.warn === undefined || !isMainThread) return;
    this.timer = this.timers.setTimer(() => this.look(), LOOK_AFTER_MS, 'background');
  }

  onModuleDestroy(): void {
    this.timer?.cancel();
  }

  private look(): void {
    if (process.listenerCount('SIGTERM') + process.listenerCount('SIGINT') === 0) this.warn?.(MESSAGE);
  }
}
