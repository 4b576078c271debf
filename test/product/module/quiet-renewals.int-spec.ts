import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { OPTIONS, typeorm, useDatabase } from '../../support/module/module-fixture.js';

describe("With Nest's default logger and all its levels", () => {
  const database = useDatabase('sqlite', 'suite');
  afterEach(() => jest.restoreAllMocks());

  it('the start and the end are logged, and a renewal never', async () => {
    const written: string[] = [];
    const write = (text: string | Uint8Array): boolean => written.push(String(text)) > 0;
    jest.spyOn(process.stdout, 'write').mockImplementation(write);
    jest.spyOn(process.stderr, 'write').mockImplementation(write);
    const options = { ...OPTIONS, heartbeatIntervalMs: 50, logger: undefined };
    @Module({ imports: [typeorm(database.options), RaindropModule.forRoot(options)] })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { abortOnError: false });
    const { events, workerId } = app.get(IdService);
    let renewals = 0;
    await new Promise<void>((resolve) => {
      events.on('lease-renewed', () => {
        if (++renewals === 5) resolve();
      });
    });
    await app.close();
    jest.restoreAllMocks();
    const ours = written.filter((line) => line.includes('Raindrop]') || line.includes('Worker '));
    expect(ours).toEqual([
      expect.stringContaining(`Worker ${workerId} acquired`),
      expect.stringContaining('IDs until 2298'),
      expect.stringContaining(`Worker ${workerId} released`),
    ]);
  });
});
