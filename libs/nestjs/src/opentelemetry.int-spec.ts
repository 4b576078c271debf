import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { metrics } from '@opentelemetry/api';
import { DataSource } from 'typeorm';
import { ConfigurationError } from '@raindrop/core';
import { getIdServiceToken, IdService, RaindropModule } from '@raindrop/nestjs';
import { RAINDROP_METRICS_OPTIONS, RaindropMetrics } from '@raindrop/nestjs/opentelemetry';
import { CollectedMetrics } from '../../../test/support/module/collected-metrics.js';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../../test/support/module/module-fixture.js';
import { leaseStatus } from '../../../test/support/module/lease-status.js';

const STATIC = { ...OPTIONS, workerIdAssigner: 'static' as const, workerId: 3 };

describe('RaindropMetrics', () => {
  const database = useDatabase('sqlite', 'test');
  let otel: CollectedMetrics;

  beforeEach(() => {
    otel = new CollectedMetrics();
    metrics.setGlobalMeterProvider(otel.provider);
  });

  afterEach(async () => {
    metrics.disable();
    await otel.provider.shutdown();
  });

  const states = (): Record<string, number> => otel.by('raindrop.lease.state', 'raindrop.lease.state');
  const events = (): Record<string, number> => otel.by('raindrop.lease.event', 'raindrop.lease.events');

  it('follow a lease while it is renewed, lost and regained', async () => {
    const lease = { heartbeatIntervalMs: 100, leaseMs: 60_000 };
    const begin = performance.now();
    const app = await startApp(
      [typeorm(database.options), RaindropModule.forRoot({ ...OPTIONS, ...lease })],
      [RaindropMetrics],
    );
    const ids = app.get(IdService);
    const renewed = jest.fn();
    ids.events.on('lease-renewed', renewed);
    for (let count = 0; count < 3; count++) await new Promise((resolve) => ids.events.once('lease-renewed', resolve));
    const before = renewed.mock.calls.length;
    await otel.collect();
    const workerId = ids.workerId!;
    expect(states()).toMatchObject({ held: 1, lost: 0 });
    expect(otel.value('raindrop.worker.id')).toBe(workerId);
    expect(otel.value('raindrop.lease.remaining')).toBeGreaterThan(0);
    expect(otel.value('raindrop.lease.remaining')).toBeLessThanOrEqual(60);
    // In seconds, as everything.
    const elapsed = (performance.now() - begin) / 1_000;
    expect(Math.abs(otel.value('raindrop.clock.offset')!)).toBeLessThan(elapsed);
    const { count, max } = otel.histogram('raindrop.lease.renewal.duration')!;
    expect(count).toBeGreaterThanOrEqual(before);
    expect(count).toBeLessThanOrEqual(renewed.mock.calls.length);
    expect(max).toBeLessThan(elapsed);
    const renewals = otel.by('raindrop.lease.outcome', 'raindrop.lease.renewals');
    expect(renewals['failure']).toBe(0);
    expect(renewals['success']).toBeGreaterThanOrEqual(2);
    expect(renewals['success']).toBeLessThanOrEqual(leaseStatus(ids).renewals);

    let whileLost: Promise<unknown> | undefined;
    const lost = new Promise<void>((resolve) => {
      ids.events.once('lease-lost', () => {
        whileLost = otel.collect();
        resolve();
      });
    });
    const regained = new Promise((resolve) => ids.events.once('lease-regained', resolve));
    const admin = await new DataSource(database.options).initialize();
    await admin.query(`UPDATE soc_raindrop_worker SET del_flag = 1 WHERE id = ${workerId}`);
    await lost;
    await whileLost;
    expect(states()).toMatchObject({ held: 0, lost: 1 });
    expect(otel.value('raindrop.worker.id')).toBe(-1);
    expect(otel.value('raindrop.lease.remaining')).toBe(0);
    expect(events()).toMatchObject({ 'lease-lost': 1, 'lease-regained': 0 });

    await regained;
    await otel.collect();
    expect(states()).toMatchObject({ held: 1, lost: 0 });
    expect(events()).toMatchObject({ 'lease-lost': 1, 'lease-regained': 1 });
    expect(otel.value('raindrop.worker.id')).toBe(ids.workerId);
    await admin.destroy();
    await app.close();
  });

  it('end when the application has shut down', async () => {
    const app = await startApp([RaindropModule.forRoot(STATIC)], [RaindropMetrics]);
    const ids = app.get(IdService);
    await otel.collect();
    expect(otel.value('raindrop.worker.id')).toBe(3);
    await app.close();
    const status = jest.spyOn(ids, 'status');
    await otel.collect();
    expect(status).not.toHaveBeenCalled();
    expect(ids.events.eventNames()).toEqual([]);
  });

  it('take their options from a provider, and named services when they are told', async () => {
    @Module({
      imports: [RaindropModule.forRoot(STATIC), RaindropModule.forRoot({ ...STATIC, name: 'orders', workerId: 4 })],
      providers: [RaindropMetrics, { provide: RAINDROP_METRICS_OPTIONS, useValue: { firstCodes: 1 } }],
    })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    const ids = app.get(IdService);
    const end = app.get(RaindropMetrics).observe(app.get(getIdServiceToken('orders')));
    for (const code of ['a', 'b', 'c']) ids.nextId(code);
    await otel.collect();
    expect(otel.by('raindrop.service', 'raindrop.worker.id')).toEqual({ default: 3, orders: 4 });
    const where = { 'raindrop.service': 'default' };
    expect(otel.by('raindrop.code', 'raindrop.ids.issued', where)).toEqual({ '-': 0, a: 1, _OTHER: 2 });
    end();
    await app.close();
  });

  it('keep an application with wrong options from starting', async () => {
    @Module({
      imports: [RaindropModule.forRoot(STATIC)],
      providers: [RaindropMetrics, { provide: RAINDROP_METRICS_OPTIONS, useValue: { firstCode: 1 } }],
    })
    class AppModule {}
    const start = NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    await expect(start).rejects.toThrow(ConfigurationError);
  });

  it('are harmless where there is no service', async () => {
    const app = await startApp([], [RaindropMetrics]);
    await otel.collect();
    expect(otel.names).toEqual([]);
    await app.close();
  });
});
