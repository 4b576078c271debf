import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { HealthCheckService, TerminusModule, type HealthIndicatorService } from '@nestjs/terminus';
import type { LeaseEvent } from '@raindrop/core';
import { wallClock } from '@raindrop/core/internal';
import { IdService, RaindropModule, type SnowflakeModuleOptions } from '@raindrop/nestjs';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { databaseKinds, kindsOfTier } from '../../support/servers/test-databases.js';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';
import { leaseStatus } from '../../support/module/lease-status.js';

@Injectable()
class Health {
  constructor(
    private readonly terminus: HealthCheckService,
    private readonly raindrop: RaindropHealthIndicator,
  ) {}

  /** The indicator's part of what the endpoint would answer, up or down. */
  async check(): Promise<Record<string, unknown>> {
    const result = await this.terminus.check([() => this.raindrop.isHealthy('ids')]).catch((error: unknown) => {
      return (error as { response: { details: Record<string, Record<string, unknown>> } }).response;
    });
    return result.details['ids'] as Record<string, unknown>;
  }
}

interface Running {
  readonly app: INestApplicationContext;
  readonly health: Health;
  readonly ids: IdService;
}

async function start(options: SnowflakeModuleOptions, database?: DataSourceOptions): Promise<Running> {
  const imports = [TerminusModule, RaindropModule.forRoot({ ...OPTIONS, ...options })];
  const first = database === undefined ? [] : [typeorm(database)];
  const app = await startApp([...first, ...imports], [Health, RaindropHealthIndicator]);
  return { app, health: app.get(Health), ids: app.get(IdService) };
}

/** Settles with the next event of a type, the first of those that `fits` says yes to. */
function next<Type extends LeaseEvent['type']>(
  { events }: IdService,
  type: Type,
  fits: (event: Extract<LeaseEvent, { type: Type }>) => boolean = () => true,
): Promise<void> {
  return new Promise((resolve) => {
    const emitter: NodeJS.EventEmitter = events;
    const listener = (event: Extract<LeaseEvent, { type: Type }>): void => {
      if (!fits(event)) return;
      emitter.off(type, listener);
      resolve();
    };
    emitter.on(type, listener);
  });
}

/** Settles when the status has taken note of a renewal: the event comes a moment earlier. */
async function renewedTwice(ids: IdService): Promise<void> {
  await next(ids, 'lease-renewed');
  await next(ids, 'lease-renewed');
}

const QUICK = { heartbeatIntervalMs: 100, leaseMs: 60_000 };

describe.each(databaseKinds)('RaindropHealthIndicator on %s', (kind) => {
  const database = useDatabase(kind, 'test');
  const isOfTier = kindsOfTier.includes(kind);
  const query = async (...statements: string[]): Promise<void> => {
    const admin = await new DataSource(database.options).initialize();
    for (const each of statements) await admin.query(each);
    await admin.destroy();
  };

  it('is up with a worker, down when its row was taken, up again with another, and down after shutdown', async () => {
    const { app, health, ids } = await start(QUICK, database.options);
    const workerId = ids.workerId!;
    expect(await health.check()).toEqual({
      status: 'up',
      service: 'default',
      state: 'held',
      workerId,
      lane: 0,
      leaseLeftMs: expect.any(Number) as number,
      clockOffsetMs: expect.any(Number) as number,
      daysLeft: leaseStatus(ids).daysLeft,
      saturation: null,
      issued: 0,
      lastError: null,
    });

    const lost = next(ids, 'lease-lost');
    const regained = next(ids, 'lease-regained');
    const down = lost.then(() => health.check());
    await query(`UPDATE soc_raindrop_worker SET del_flag = 1 WHERE id = ${workerId}`);
    expect(await down).toMatchObject({ status: 'down', state: 'lost', workerId: null, reason: 'LEASE_LOST' });

    await regained;
    expect(ids.workerId).not.toBe(workerId);
    expect(await health.check()).toMatchObject({ status: 'up', workerId: ids.workerId });

    await app.close();
    expect(await health.check()).toMatchObject({ status: 'down', state: 'closed', reason: 'CLOSED' });
  });

  it('is down when the worker ids have run out, and says so', async () => {
    const { app, health, ids } = await start(QUICK, database.options);
    const allTaken = next(ids, 'lease-trouble', ({ error }) => error.errorCode === 'NO_FREE_WORKER');
    await query('UPDATE soc_raindrop_worker SET del_flag = 1');
    await allTaken;
    expect(await health.check()).toMatchObject({
      status: 'down',
      state: 'lost',
      reason: 'LEASE_LOST',
      lastError: 'NO_FREE_WORKER',
    });
    await app.close();
  });

  it('is degraded while renewals fail and the lease still lasts, and up when they succeed again', async () => {
    const { app, health, ids } = await start(QUICK, database.options);
    const failing = next(ids, 'lease-trouble');
    await query('ALTER TABLE soc_raindrop_worker_state RENAME TO elsewhere');
    await failing;
    expect(await health.check()).toMatchObject({
      status: 'degraded',
      state: 'held',
      lastError: 'STORE_UNAVAILABLE',
      reason: 'renewals fail: STORE_UNAVAILABLE',
    });
    await query('ALTER TABLE elsewhere RENAME TO soc_raindrop_worker_state');
    await renewedTwice(ids);
    expect(await health.check()).toMatchObject({ status: 'up', lastError: null });
    await app.close();
  });

  if (isOfTier) {
    it('shows how busy the worker is, once a renewal has measured it', async () => {
      // 63 - 52 - 3 - 1 - 5 leaves 2 bits of sequence: 4 IDs in a second.
      const tiny = { timeStampLength: 52, workIdLength: 3, endBitsLength: 5, onExhausted: 'wait' } as const;
      const { app, health, ids } = await start({ ...QUICK, ...tiny }, database.options);
      // One of the measurements has these IDs in it, which one depends on when they were issued.
      const measured = next(ids, 'lease-renewed', () => (leaseStatus(ids).saturation ?? 0) > 0);
      await Promise.all(Array.from({ length: 8 }, (_, code) => ids.nextIdAsync(`code ${code}`)));
      await measured;
      expect(await health.check()).toMatchObject({ status: 'up', saturation: expect.any(Number) as number });
      await app.close();
    });
  }
});

describe('RaindropHealthIndicator of a clock that is off', () => {
  const database = useDatabase('sqlite', 'suite');
  afterEach(() => jest.restoreAllMocks());

  it('is down while the clock is further ahead of the database than maxClockSkewMs', async () => {
    const { app, health, ids } = await start({ ...QUICK, clock: 'exact' }, database.options);
    const skewed = next(ids, 'lease-trouble', ({ error }) => error.errorCode === 'CLOCK_SKEW');
    const real = Date.now;
    jest.spyOn(wallClock, 'now').mockImplementation(() => real() + 60_000);
    await skewed;
    expect(await health.check()).toMatchObject({ status: 'down', reason: 'CLOCK_SKEW', lastError: 'CLOCK_SKEW' });
    jest.restoreAllMocks();
    await renewedTwice(ids);
    expect(await health.check()).toMatchObject({ status: 'up' });
    await app.close();
  });
});

describe('RaindropHealthIndicator of a worker id given by hand', () => {
  const options = {
    workerIdAssigner: 'static',
    workerId: 1,
    clock: 'exact',
    timeStampLength: 31,
    restartWaitMs: false,
  } as const;
  let running: Running;
  const at = (time: string): void => void jest.spyOn(wallClock, 'now').mockReturnValue(Date.parse(time));

  beforeEach(async () => {
    running = await start(options);
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await running.app.close();
  });

  it.each([
    ['before the epoch', '2025-01-01', 'CLOCK_BEFORE_EPOCH'],
    ['when the layout has expired', '2094-02-01', 'TIMESTAMP_OVERFLOW'],
  ])('is down %s', async (_, time, reason) => {
    expect(await running.health.check()).toMatchObject({ status: 'up', leaseLeftMs: null, clockOffsetMs: null });
    at(time);
    expect(await running.health.check()).toMatchObject({ status: 'down', state: 'held', reason });
  });

  it('is degraded in the last year of its layout, and not before', async () => {
    at('2093-01-18');
    expect(await running.health.check()).toMatchObject({ status: 'up', daysLeft: 366 });
    at('2093-12-31');
    expect(await running.health.check()).toMatchObject({
      status: 'degraded',
      daysLeft: 19,
      reason: 'the layout expires in 19 days',
    });
  });

  it('is up with the reason where terminus does not know degraded: version 11', () => {
    const answer = (status: string) => (details: object) => ({ ids: { status, ...details } });
    const eleven = { check: () => ({ up: answer('up'), down: answer('down') }) };
    const indicator = new RaindropHealthIndicator(eleven as unknown as HealthIndicatorService, running.ids);
    at('2093-12-31');
    expect(indicator.isHealthy('ids').ids).toMatchObject({ status: 'up', reason: 'the layout expires in 19 days' });
    at('2094-02-01');
    expect(indicator.isHealthy('ids').ids).toMatchObject({ status: 'down', reason: 'TIMESTAMP_OVERFLOW' });
  });

  it('is down without a module to speak of', () => {
    const answer = (status: string) => (details: object) => ({ ids: { status, ...details } });
    const session = { check: () => ({ down: answer('down') }) };
    const indicator = new RaindropHealthIndicator(session as unknown as HealthIndicatorService);
    expect(indicator.isHealthy('ids').ids).toEqual({ status: 'down', reason: 'RaindropModule is not imported' });
  });
});
