import type { OnApplicationBootstrap } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { dataSourcesIn } from './data-sources-of-app.js';
import type { IdService } from '../id.service.js';
import type { ColumnLint } from '../orm/snowflake-columns.js';
import { typeormBridge } from '../orm/typeorm-bridge.js';
import { isIdService } from './services-of-copies.js';

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
    const unnamed = found.filter((each) => orm.attachedTo(each).length === 0);
    try {
      orm.report(
        unnamed.flatMap((each) => orm.lintUnnamed(each, isMine)),
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
