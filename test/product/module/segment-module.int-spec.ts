import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TerminusModule, type HealthIndicatorResult } from '@nestjs/terminus';
import { ClosedError, parseShardedId, SegmentNotReadyError, UnknownAppError, UnknownCodeError } from '@raindrop/core';
import {
  getIdServiceToken,
  IdService,
  NoLayoutError,
  NoShardedIdsError,
  type NumberService,
  RaindropModule,
  type SegmentBuffer,
  type SegmentModuleOptions,
} from '@raindrop/nestjs';
import { snowflakeColumn } from '@raindrop/nestjs/typeorm';
import { redisBuffer } from '@raindrop/node/redis';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import { DataSource, EntitySchema, type DataSourceOptions } from 'typeorm';
import { startVolatileRedis } from '../../support/redis/volatile-redis.js';
import { databaseKinds, kindsOfTier, testDatabase } from '../../support/servers/test-databases.js';
import { runs } from '../../tier.js';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';

const SEGMENTS: SegmentModuleOptions = {
  idMode: 'numberSection',
  ...(OPTIONS.logger && { logger: OPTIONS.logger }),
};

/** More than are reserved at a time. */
const TICKETS = runs(2_500);

interface Ticket {
  id?: string;
  title: string;
}

const TicketSchema = new EntitySchema<Ticket>({
  name: 'Ticket',
  columns: { id: snowflakeColumn({ code: 'ticket' }), title: { type: 'varchar' } },
});

describe.each(databaseKinds)('RaindropModule with idMode numberSection on %s', (kind) => {
  const database = useDatabase(kind, 'test');

  // What has to do with no statement.
  const isOfTier = kindsOfTier.includes(kind);

  const start = async (options: Partial<SegmentModuleOptions> = {}): ReturnType<typeof startApp> =>
    startApp([
      typeorm({ ...database.options, entities: [TicketSchema], synchronize: true }),
      RaindropModule.forRoot({ ...SEGMENTS, ...options }),
    ]);

  const maxId = async (code: string): Promise<number> => {
    const source = await new DataSource(database.options).initialize();
    const rows: { max_id: string }[] = await source.query(`SELECT max_id FROM raindrop_segment WHERE code = '${code}'`);
    await source.destroy();
    return Number(rows[0]?.max_id);
  };

  it('issues 1, 2, 3 by code under the names of snowflakes, and gives back what is left', async () => {
    const app = await start({ codes: ['default', 'order'] });
    const ids = app.get(IdService);
    const numbers = app.get<NumberService>(IdService);
    expect([ids.nextId(), ids.nextString('order'), ids.nextNumber('order')]).toEqual([1n, '1', 2]);
    expect(ids.nextIds(3, 'order')).toEqual([3n, 4n, 5n]);
    expect(ids.forCode('order').nextStrings(2)).toEqual(['6', '7']);
    expect(ids.fill(new BigInt64Array(2), 'order')).toEqual(BigInt64Array.of(8n, 9n));
    expect(() => ids.nextId('late')).toThrow(SegmentNotReadyError);
    expect(await ids.nextIdAsync('late')).toBe(1n);
    expect(ids.workerId).toBeUndefined();
    expect(() => ids.layout).toThrow(NoLayoutError);
    expect(() => ids.parse(5n)).toThrow(NoLayoutError);
    expect(() => numbers.nextSharded({ app: 1, gatePass: 'zhangsan' })).toThrow(NoShardedIdsError);
    expect(ids.status()).toMatchObject({ idMode: 'numberSection', state: 'ready', counters: { issued: 11, codes: 3 } });

    await app.close();
    expect(() => ids.nextId('order')).toThrow(ClosedError);
    expect(await maxId('order')).toBe(9);
    const again = await start({ codes: ['order'] });
    expect(again.get(IdService).nextId('order')).toBe(10n);
    await again.close();
  });

  it('repeats nothing when the transaction is rolled back in which a number was taken', async () => {
    // SQLite has one writer: while the application's transaction writes, no segment can be reserved.
    const app = await start({ defaultStep: kind === 'sqlite' ? 1_000 : 2 });
    const [ids, source] = [app.get(IdService), app.get(DataSource)];
    const taken: bigint[] = [];
    for (let round = 0; round < 5; round++) {
      const doomed = source.transaction(async (manager) => {
        taken.push(...(await ids.nextIdsAsync(3)));
        await manager.insert(TicketSchema, { title: 'never' });
        taken.push(...(await ids.nextIdsAsync(3)));
        throw new Error('rolled back');
      });
      await expect(doomed).rejects.toThrow('rolled back');
    }
    expect(new Set(taken).size).toBe(30);
    await app.close();
  });

  if (isOfTier) {
    it('fills generated columns, waiting for the first numbers of their code', async () => {
      const app = await start({ defaultStep: 100 });
      const tickets = app.get(DataSource).getRepository(TicketSchema);
      const saved = await tickets.save(Array.from({ length: TICKETS }, (_, index) => ({ title: `ticket ${index}` })));
      expect(saved.map(({ id }) => Number(id))).toEqual(Array.from({ length: TICKETS }, (_, index) => index + 1));
      await tickets.insert({ title: 'one more' });
      expect(await tickets.findOneBy({ id: String(TICKETS + 1) })).toMatchObject({ title: 'one more' });
      await app.close();
    });
  }

  if (isOfTier) {
    it('issues sharded IDs, each app its own', async () => {
      const apps = [
        { id: 1, name: 'shop', description: 'orders' },
        { id: 2, name: 'blog', description: '' },
      ];
      const app = await start({ sharded: { apps } });
      const ids = app.get<NumberService>(IdService);
      const request = { app: 1, gatePass: '13900139000' };
      const first = await ids.nextShardedAsync(request);
      expect(parseShardedId(first)).toEqual({ index: 1n, shard: 48, app: 1 });
      expect(parseShardedId(ids.nextSharded(request)).index).toBe(2n);
      expect(await ids.nextShardedAsync({ ...request, app: 2 })).toBe(first + 1n);
      await expect(ids.nextShardedAsync({ ...request, app: 9 })).rejects.toThrow(UnknownAppError);
      await ids.registerApp(9, 'late');
      expect(await ids.nextShardedAsync({ ...request, app: 9 })).toBe(first + 8n);
      await app.close();
    });
  }

  if (isOfTier) {
    it('stands beside a service of snowflakes', async () => {
      const app = await startApp([
        typeorm(database.options),
        RaindropModule.forRoot(OPTIONS),
        RaindropModule.forRoot({ ...SEGMENTS, name: 'numbers' }),
      ]);
      const [snowflakes, numbers] = [app.get(IdService), app.get<IdService>(getIdServiceToken('numbers'))];
      expect(snowflakes.parse(snowflakes.nextId()).workerId).toBe(snowflakes.workerId);
      expect(numbers.nextId()).toBe(1n);
      await app.close();
    });
  }

  if (isOfTier) {
    it('shares numbers by Redis with processes of the same database only, and says when Redis is of no use', async () => {
      const server = await startVolatileRedis();
      const redis = redisBuffer({ connection: server.url });
      const other = await testDatabase(kind);
      const take = async (
        options: DataSourceOptions,
        buffer: SegmentBuffer,
      ): Promise<{ first: bigint; log: string[] }> => {
        const log: string[] = [];
        const warn = (message: string): void => void log.push(message);
        const logger = { log: warn, warn, error: warn };
        const app = await startApp([typeorm(options), RaindropModule.forRoot({ ...SEGMENTS, redis: buffer, logger })]);
        const first = app.get(IdService).nextId();
        app.get(IdService).nextIds(50);
        await app.close();
        return { first, log };
      };
      // One by one, so that each finds in Redis what the one before has left.
      expect((await take(database.options, redis)).first).toBe(1n);
      expect((await take(other.options, redis)).first).toBe(1n);
      const third = await take(database.options, redis);
      expect(third.first).toBeGreaterThan(51n);
      expect(third.log).toEqual([]);
      await server.stop();
      const { first, log } = await take(database.options, redisBuffer({ connection: server.url }));
      expect(first).toBeGreaterThan(third.first);
      expect(log).toEqual([
        expect.stringContaining('the shared buffer of numbers cannot be used: Redis is unavailable'),
      ]);
      await other.drop();
    });
  }

  if (isOfTier) {
    it('is healthy while numbers come, and tells how many are left', async () => {
      @Injectable()
      class Health {
        constructor(private readonly indicator: RaindropHealthIndicator) {}
        check(): HealthIndicatorResult['ids'] {
          return this.indicator.isHealthy('ids')['ids'];
        }
      }
      @Module({
        imports: [
          typeorm(database.options),
          TerminusModule,
          RaindropModule.forRoot({ ...SEGMENTS, autoCreateCode: false }),
        ],
        providers: [Health, RaindropHealthIndicator],
      })
      class AppModule {}
      const rows = await start();
      await rows.close();
      const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
      app.get(IdService).nextIds(10);
      const details = { service: 'default', state: 'ready', codes: 1, issued: 10, lastError: null };
      expect(app.get(Health).check()).toMatchObject({ status: 'up', ...details, numbersLeft: 990 });
      await expect(app.get(IdService).nextIdAsync('nobody knows it')).rejects.toThrow(UnknownCodeError);
      const concern = { reason: 'reservations fail: UNKNOWN_CODE', codes: 2 };
      expect(app.get(Health).check()).toMatchObject({ status: 'degraded', ...concern });
      await app.close();
      expect(app.get(Health).check()).toMatchObject({ status: 'down', reason: 'CLOSED' });
    });
  }
});
