import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { OPTIONS, startApp, useDatabase } from '../../support/module/module-fixture.js';

/** docs/operations.md, "Deploys": where Nest calls no hook, and what gives the worker id back there. */
describe('A service that Nest does not close', () => {
  const database = useDatabase('sqlite', 'suite');
  const imported = () => RaindropModule.forRoot({ ...OPTIONS, dbConfig: database.options });
  let ids: IdService | undefined;

  afterEach(async () => ids?.close());

  it('of a module that LazyModuleLoader has loaded, is closed by close()', async () => {
    const app = await startApp([]);
    const loaded = await app.get(LazyModuleLoader).load(imported);
    ids = loaded.get(IdService);
    await app.close();
    expect(ids?.status().state).toBe('held');
    await ids?.close();
    expect(ids?.status().state).toBe('closed');
  });

  it('of an application whose own provider fails at the start, is closed by close()', async () => {
    @Injectable()
    class Failing implements OnModuleInit {
      constructor(own: IdService) {
        ids = own;
      }

      onModuleInit(): void {
        throw new Error('no cache');
      }
    }
    await expect(startApp([imported()], [Failing])).rejects.toThrow('no cache');
    expect(ids?.status().state).toBe('held');
    await ids?.close();
    expect(ids?.status().state).toBe('closed');
  });
});
