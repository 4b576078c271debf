import type { Server } from 'node:http';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SERVICE_CONFIG, type ServiceConfig } from './service-config.js';

/** How long answers under way may take once the server closes; a client that reads nothing would keep it open for ever. */
const LAST_ANSWERS_MS = 5_000;

/** For so long no client must have connected before the server closes: the system resets connections not yet taken. */
const QUIET_MS = 200;
/** Answers are held back no longer for that. */
const LONGEST_HOLD_MS = 1_000;

/**
 * The end of the service by Nest's shutdown hooks, in order: readiness says no at once; for `DRAIN_MS` everything is
 * served on, so that load balancers can find out; then streams end, the server closes, and the worker id is given back.
 * close-with-grace would end the process at a second signal, before the worker id is back.
 *
 * While the server closes no request is begun. Clients that come again with each answer have none then, so that none of
 * them connects at the moment in which connections are reset.
 */
@Injectable()
export class Drain implements OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly closing = new AbortController();
  private begun = false;
  private timer: NodeJS.Timeout | undefined;
  private held: Promise<void> | undefined;

  constructor(
    @Inject(SERVICE_CONFIG) private readonly config: Pick<ServiceConfig, 'drainMs'>,
    private readonly host: HttpAdapterHost,
  ) {}

  get hasBegun(): boolean {
    return this.begun;
  }

  /** Aborted when the server closes: for answers that take long. */
  get signal(): AbortSignal {
    return this.closing.signal;
  }

  /** Settles when requests may be begun again; undefined when they may. */
  get hold(): Promise<void> | undefined {
    return this.held;
  }

  /** Nest's first hook. */
  onModuleDestroy(): void {
    this.begun = true;
  }

  /** @param signal undefined when the application was closed by a call, which waits for no client */
  async beforeApplicationShutdown(signal?: string): Promise<void> {
    const server = this.host.httpAdapter.getHttpServer() as Server;
    if (signal !== undefined) {
      await sleep(this.config.drainMs);
      await this.becomeQuiet(server);
    }
    this.closing.abort();
    this.timer = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS).unref();
  }

  /** Holds requests back, until no client connects any more, and on until the server is closed. */
  private async becomeQuiet(server: Server): Promise<void> {
    const begin = performance.now();
    let connectedAt = begin;
    server.on('connection', () => (connectedAt = performance.now()));
    const isOver = (): boolean => performance.now() - begin > LONGEST_HOLD_MS;
    const closed = async (): Promise<void> => {
      while (server.listening && !isOver()) await turn();
      this.held = undefined;
    };
    this.held = closed();
    while (performance.now() - connectedAt < QUIET_MS && !isOver()) await sleep(1);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }
}

/**
 * Tells clients, as long as the service serves on, not to send more on the same connection, for it will be closed; and
 * holds requests back in the moment in which the server is.
 */
export function closeWhenEnding(app: NestFastifyApplication): void {
  const drain = app.get(Drain);
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (_request, reply, done) => {
    if (!drain.hasBegun) return done();
    void reply.header('connection', 'close');
    if (drain.hold === undefined) done();
    else void drain.hold.then(() => done());
  });
}
