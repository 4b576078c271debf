import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import { DataSource } from 'typeorm';
import { databaseKinds } from '../servers/test-databases.js';
import { OPTIONS, typeorm, useDatabase } from './module-fixture.js';

@Injectable()
class Health {
  constructor(
    private readonly terminus: HealthCheckService,
    private readonly raindrop: RaindropHealthIndicator,
  ) {}

  /** The indicator's part of what the endpoint would answer, up or down. */
  async check(): Promise<Record<string, unknown>> {
    const result = await this.terminus.check([() => this.raindrop.check('ids')]).catch((error: unknown) => {
      return (error as { response: { details: Record<string, Record<string, unknown>> } }).response;
    });
    return result.details['ids'] as Record<string, unknown>;
  }
}

describe.each(databaseKinds)('RaindropHealthIndicator on %s', (kind) => {
  const database = useDatabase(kind, 'suite');

  it('is up with a worker, down when its row was taken, up again with another, and down after shutdown', async () => {
    @Module({
      imports: [
        typeorm(database.options),
        TerminusModule,
        RaindropModule.forRoot({ ...OPTIONS, heartbeatIntervalMs: 100, leaseMs: 5_000 }),
      ],
      providers: [Health, RaindropHealthIndicator],
    })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    const [health, ids] = [app.get(Health), app.get(IdService)];
    const workerId = ids.workerId!;
    expect(await health.check()).toMatchObject({ status: 'up', service: 'default', state: 'held', workerId });

    const lost = new Promise((resolve) => ids.events.once('lease-lost', resolve));
    const regained = new Promise((resolve) => ids.events.once('lease-regained', resolve));
    const down = lost.then(() => health.check());
    const admin = await new DataSource(database.options).initialize();
    await admin.query(`UPDATE soc_raindrop_worker SET del_flag = 1 WHERE id = ${workerId}`);
    expect(await down).toMatchObject({ status: 'down', state: 'lost', workerId: null, reason: 'LEASE_LOST' });

    await regained;
    expect(ids.workerId).not.toBe(workerId);
    expect(await health.check()).toMatchObject({ status: 'up', workerId: ids.workerId });

    await admin.destroy();
    await app.close();
    expect(await health.check()).toMatchObject({ status: 'down', state: 'closed', reason: 'CLOSED' });
  });
});

describe('RaindropHealthIndicator of a worker that is held', () => {
  afterEach(() => jest.restoreAllMocks());

  it('is down with the reason while its generator refuses IDs', async () => {
    @Module({
      imports: [
        TerminusModule,
        RaindropModule.forRoot({ ...OPTIONS, workerIdAssigner: 'static', workerId: 1, clock: 'exact' }),
      ],
      providers: [Health, RaindropHealthIndicator],
    })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    const health = app.get(Health);
    expect(await health.check()).toMatchObject({ status: 'up' });
    jest.spyOn(Date, 'now').mockReturnValue(Date.parse('2025-01-01'));
    expect(await health.check()).toMatchObject({ status: 'down', state: 'held', reason: 'CLOCK_BEFORE_EPOCH' });
    await app.close();
  });
});
