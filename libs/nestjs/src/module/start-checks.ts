import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { isMainThread } from 'node:worker_threads';
import type { ModulesContainer } from '@nestjs/core';
import type { Timer, Timers } from '@raindrop/core';
import type { IdService } from '../id.service.js';
import type { AppDataSource, ColumnLint } from '../orm/app-data-source.js';
import { asDataSource, dataSourceToken, typeormBridge } from '../orm/typeorm-bridge.js';
import { isIdService } from './services-of-copies.js';

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

/**
 * Looks for DataSources that no service was given, with entities that wait for an ID: the first insert would be refused.
 * Each service looks for columns of its own name, and those of names that nobody has are its business where it is alone.
 */
export class UnnamedDataSourcesCheck implements OnApplicationBootstrap {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly service: IdService,
    private readonly lint: ColumnLint,
  ) {}

  /** @throws EntityLintError, with the worker ids given back: Nest calls no hooks of an application that does not start */
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
    // In an order that is the same for all of them.
    return [...new Set([this.service, ...services])].sort((a, b) => a.name.localeCompare(b.name));
  }
}

/** Every TypeORM DataSource that is up and provided somewhere in the application, named by some service or not. */
function dataSourcesIn(modules: ModulesContainer): AppDataSource[] {
  const found = new Set<AppDataSource>();
  for (const { providers } of modules.values()) {
    for (const { instance } of providers.values()) {
      if (isDataSource(instance) && instance.isInitialized) found.add(instance);
    }
  }
  return [...found];
}

/** True when modules provide the DataSource of another copy of TypeORM, whose class is not the one that we ask for. */
export function hasDataSourceOfAnotherCopy(modules: ModulesContainer): boolean {
  const ours: unknown = dataSourceToken();
  return [...modules.values()].some(({ providers }) =>
    [...providers.keys()].some((token) => typeof token === 'function' && token.name === 'DataSource' && token !== ours),
  );
}

function isDataSource(instance: unknown): instance is AppDataSource {
  try {
    // By its shape: there may be a second copy of TypeORM.
    return typeof instance === 'object' && Array.isArray((instance as Partial<AppDataSource> | null)?.entityMetadatas);
  } catch {
    // A proxy of the application's.
    return false;
  }
}
