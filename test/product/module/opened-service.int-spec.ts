import { IdService, RaindropModule } from '@raindrop/nestjs';
import { NoOpenServiceError } from '@raindrop/node';
import { openedService } from '@raindrop/node/internal';
import { Module, type FactoryProvider } from '@nestjs/common';
import { OPTIONS, startApp } from '../../support/module/module-fixture.js';

const STATIC = { ...OPTIONS, workerIdAssigner: 'static', workerId: 3, restartWaitMs: false } as const;

/** A provider that looks for the service as a schema does that is declared at module level. */
function seeker(inject: FactoryProvider['inject']): FactoryProvider<unknown> {
  return {
    provide: 'seeker',
    inject,
    useFactory: () => {
      try {
        return openedService('default');
      } catch (error) {
        return error;
      }
    },
  };
}

describe('What looks for the service of the module by its name', () => {
  it('finds it where the service is injected as well, until the application has shut down', async () => {
    @Module({ imports: [RaindropModule.forRoot(STATIC)], providers: [seeker([IdService])] })
    class AppModule {}
    const app = await startApp([AppModule]);
    expect(app.get('seeker')).toBe(app.get(IdService));
    expect(openedService('default')).toBe(app.get(IdService));
    await app.close();
    expect(() => openedService('default')).toThrow(NoOpenServiceError);
  });

  it('is told to inject the service where it may come too early', async () => {
    @Module({ imports: [RaindropModule.forRoot(STATIC)], providers: [seeker([])] })
    class AppModule {}
    const app = await startApp([AppModule]);
    expect(app.get('seeker')).toBeInstanceOf(NoOpenServiceError);
    expect(app.get<Error>('seeker').message).toContain('inject IdService');
    expect(openedService('default')).toBe(app.get(IdService));
    await app.close();
  });
});
