import type { INestApplicationContext } from '@nestjs/common';
import { RaindropModule, type RaindropModuleOptions } from '@raindrop/nestjs';
import { hostTimers } from '@raindrop/node/internal';
import { OPTIONS, startApp, typeorm } from '../../support/module/module-fixture.js';

describe("Nest's shutdown hooks", () => {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const listeners = signals.map((signal) => process.rawListeners(signal));
  const warn = jest.fn();

  beforeEach(() => {
    signals.forEach((signal) => process.removeAllListeners(signal));
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
    jest.spyOn(hostTimers, 'setTimeout').mockImplementation(setTimeout);
    jest.spyOn(hostTimers, 'clearTimeout').mockImplementation(clearTimeout);
  });

  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
    warn.mockClear();
    signals.forEach((signal, index) => {
      process.removeAllListeners(signal);
      for (const each of listeners[index]!) process.on(signal, each as NodeJS.SignalsListener);
    });
  });

  const start = (options: RaindropModuleOptions = { allowVolatile: true }): Promise<INestApplicationContext> => {
    const logger = { ...OPTIONS.logger!, warn };
    const memory = typeorm({ type: 'better-sqlite3', database: ':memory:' });
    return startApp([memory, RaindropModule.forRoot({ ...OPTIONS, logger, ...options })]);
  };

  it('are missed ten seconds after the start, once', async () => {
    const app = await start();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('app.enableShutdownHooks()'), 'Raindrop']]);
    await app.close();
  });

  it.each<[string, RaindropModuleOptions, (app: INestApplicationContext) => unknown]>([
    ['they are enabled', {}, (app) => app.enableShutdownHooks()],
    ['somebody listens to SIGTERM', {}, () => process.once('SIGTERM', () => {})],
    ['somebody listens to SIGINT', {}, () => process.once('SIGINT', () => {})],
    ['checkShutdownHooks is false', { checkShutdownHooks: false }, () => {}],
    ['the application has closed before', {}, (app) => app.close()],
  ])('are not missed when %s', async (_, options, prepare) => {
    const app = await start({ allowVolatile: true, ...options });
    await prepare(app);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(warn).not.toHaveBeenCalled();
    await app.close();
  });

  it('are not missed by a worker id given by hand: there is nothing to give back', async () => {
    const app = await start({ workerIdAssigner: 'static', workerId: 3, restartWaitMs: false });
    warn.mockClear();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(warn).not.toHaveBeenCalled();
    await app.close();
  });
});
