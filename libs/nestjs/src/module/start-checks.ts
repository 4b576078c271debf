import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { isMainThread } from 'node:worker_threads';
import type { ModulesContainer } from '@nestjs/core';
import type { Timer, Timers } from '@raindrop/core';
import type { IdService } from '../id.service.js';
import type { AppDataSource, ColumnLint } from '../orm/app-data-source.js';
import { asDataSource, dataSourceToken, typeormBridge } from '../orm/typeorm-bridge.js';
import { isIdService } from './services-of-copies.js';

/**
 * So long after the start the signals are looked at, ms: an application may enable the hooks after `app.listen()`, and
 * most tests and scripts have ended by then.
 */
const CHECK_AFTER_MS = 10_000;

const MESSAGE =
  'nothing listens to SIGTERM or SIGINT: the worker id is not released when this process stops, and stays taken ' +
  'until its lease ends. Call app.enableShutdownHooks(), or set checkShutdownHooks: false if something else calls ' +
  'app.close()';

/**
 * Warns once when a signal would end the process before Nest gives the worker id back. An application cannot be asked
 * whether its shutdown hooks are enabled, so any listener to one of the two signals counts. Worker threads get no
 * signals.
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
    this.timer = this.timers.setTimer(() => this.check(), CHECK_AFTER_MS, 'background');
  }

  onModuleDestroy(): void {
    this.timer?.cancel();
  }

  private check(): void {
    if (process.listenerCount('SIGTERM') + process.listenerCount('SIGINT') === 0) this.warn?.(MESSAGE);
  }
}

/**
 * Looks for DataSources that no service is attached to, though their entities need IDs: the first insert would be
 * refused. Each service checks the columns that name it. The first service by name also checks those that name a
 * service that does not exist.
 */
export class UnnamedDataSourcesCheck implements OnApplicationBootstrap {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly service: IdService,
    private readonly lint: ColumnLint,
  ) {}

  /**
   * @throws EntityLintError; the worker ids are given back before: Nest calls no hooks of an application that does not
   * start
   */
  async onApplicationBootstrap(): Promise<void> {
    const { modules, service } = this;
    const services = this.services();
    const isMine = (name: string): boolean =>
      name === service.name || (services[0] === service && !services.some((each) => each.name === name));
    const found = dataSourcesIn(modules);
    if (found.length === 0) return;
    const orm = typeormBridge();
    const unnamed = found.filter((each) => orm.attachedTo(asDataSource(each)).length === 0);
    try {
      orm.report(
        unnamed.flatMap((each) => orm.lintUnnamed(asDataSource(each), isMine)),
        this.lint,
      );
    } catch (error) {
      await Promise.all(services.map((each) => each.onApplicationShutdown()));
      throw error;
    }
  }

  private services(): IdService[] {
    const found = [...this.modules.values()].flatMap(({ providers }) =>
      [...providers.values()].map(({ instance }: { readonly instance: unknown }) => instance),
    );
    const services = found.filter(isIdService);
    // All services must find the same order.
    return [...new Set([this.service, ...services])].sort((a, b) => a.name.localeCompare(b.name));
  }
}

/** Finds every initialised TypeORM DataSource that a module of the application provides. */
function dataSourcesIn(modules: ModulesContainer): AppDataSource[] {
  const found = new Set<AppDataSource>();
  for (const { providers } of modules.values()) {
    for (const { instance } of providers.values()) {
      if (isDataSource(instance) && instance.isInitialized) found.add(instance);
    }
  }
  return [...found];
}

/** True when modules provide the DataSource of another copy of TypeORM than the one that this package loads. */
export function hasDataSourceOfAnotherCopy(modules: ModulesContainer): boolean {
  const ours: unknown = dataSourceToken();
  return [...modules.values()].some(({ providers }) =>
    [...providers.keys()].some((token) => typeof token === 'function' && token.name === 'DataSource' && token !== ours),
  );
}

function isDataSource(instance: unknown): instance is AppDataSource {
  try {
    // By its shape, not its class: there may be a second copy of TypeORM.
    return typeof instance === 'object' && Array.isArray((instance as Partial<AppDataSource> | null)?.entityMetadatas);
  } catch {
    // An application's proxy may throw.
    return false;
  }
}
