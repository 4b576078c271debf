import { setTimeout as sleep } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Server } from 'node:http';
import { DEMO_CONFIG } from './demo-config.token.js';
import type { DemoConfig } from './demo-config.js';

/** How long answers under way may take once the server closes; who reads nothing would keep it open for ever. */
const LAST_ANSWERS_MS = 5_000;

/**
 * The end of the service, in order: readiness says no at once; for `DRAIN_MS` everything is served on, so that who sends
 * requests here can find out; then streams end, the server closes, and the worker id is given back.
 */
@Injectable()
export class Drain implements OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly closing = new AbortController();
  private begun = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(DEMO_CONFIG) private readonly config: Pick<DemoConfig, 'drainMs'>,
    private readonly host: HttpAdapterHost,
  ) {}

  get hasBegun(): boolean {
    return this.begun;
  }

  /** Aborted when the server closes: for answers that take long. */
  get signal(): AbortSignal {
    return this.closing.signal;
  }

  /** Nest's first hook. */
  onModuleDestroy(): void {
    this.begun = true;
  }

  /** @param signal undefined when the application was closed by a call, which waits for nobody */
  async beforeApplicationShutdown(signal?: string): Promise<void> {
    if (signal !== undefined) await sleep(this.config.drainMs);
    this.closing.abort();
    const server = this.host.httpAdapter.getHttpServer() as Server;
    this.timer = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS).unref();
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }
}
