import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { ClosedError, ConfigurationError, type WaitOptions, NoFreeWorkerError } from '@raindrop/core';
import {
  getIdServiceToken,
  IdService,
  InjectIdService,
  RaindropModule,
  type SegmentModuleOptions,
  type SnowflakeModuleOptions,
  type RaindropOptionsFactory,
} from '@raindrop/nestjs';
import { snowflakeColumn } from '@raindrop/nestjs/typeorm';
import { hostname } from 'node:os';
import { DataSource, EntitySchema } from 'typeorm';
import { databaseKinds, kindsOfTier } from '../../support/servers/test-databases.js';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';

describe('RaindropModule without forRoot()', () => {
  const database = useDatabase('sqlite', 'test');

  it('is refused where nothing else is imported', async () => {
    await expect(startApp([RaindropModule])).rejects.toMatchObject({
      errorCode: 'CONFIGURATION',
      message: expect.stringMatching(
        /imports = RaindropModule: without forRoot\(\) provides no service: import/,
      ) as string,
    });
  });

  it('does nothing beside a service', async () => {
    @Module({ imports: [RaindropModule] })
    class Feature {}
    const app = await startApp([Feature, typeorm(database.options), RaindropModule.forRoot(OPTIONS)]);
    expect(app.get(IdService).nextId()).toBeGreaterThan(0n);
    await app.close();
  });
});

describe.each(databaseKinds)('RaindropModule on %s', (kind) => {
  const database = useDatabase(kind, 'test');

  // What of the module has to do with no statement.
  const isOfTier = kindsOfTier.includes(kind);

  const tokens = async (): Promise<{ id: number; token: string }[]> => {
    const source = await new DataSource(database.options).initialize();
    try {
      const rows: { id: string; token: string }[] = await source.query(
        'SELECT id, token FROM soc_raindrop_worker ORDER BY id',
      );
      return rows.map(({ id, token }) => ({ id: Number(id), token }));
    } finally {
      await source.destroy();
    }
  };

  it('has a worker before other providers are initialised, and gives it back at shutdown', async () => {
    const seen: bigint[] = [];
    @Injectable()
    class Early implements OnModuleInit {
      constructor(private readonly ids: IdService) {}
      onModuleInit(): void {
        seen.push(this.ids.nextId());
      }
    }
    const app = await startApp([typeorm(database.options), RaindropModule.forRoot(OPTIONS)], [Early]);
    const ids = app.get(IdService);
    expect(seen).toHaveLength(1);
    expect(ids.parse(seen[0]!).workerId).toBe(ids.workerId);
    expect(ids.status()).toMatchObject({ service: 'default', state: 'held', workerId: ids.workerId });
    expect((await tokens()).filter(({ token }) => token !== '').map(({ id }) => id)).toEqual([ids.workerId]);
    expect((await tokens()).map(({ id }) => id)).toEqual(Array.from({ length: 31 }, (_, index) => index + 1));

    await app.close();
    expect((await tokens()).filter(({ token }) => token !== '')).toEqual([]);
    expect(() => ids.nextId()).toThrow(ClosedError);
    await expect(ids.nextIdAsync()).rejects.toThrow(ClosedError);
  });

  if (isOfTier) {
    it.each([
      ['before TypeORM', true],
      ['after TypeORM', false],
    ])('releases at shutdown when imported %s', async (_, first) => {
      const modules = [RaindropModule.forRoot(OPTIONS), typeorm(database.options)];
      const app = await startApp(first ? modules : modules.reverse());
      app.get(IdService).nextId();
      await app.close();
      expect((await tokens()).every(({ token }) => token === '')).toBe(true);
    });
  }

  if (isOfTier) {
    it('continues after a restart on the only row with larger IDs', async () => {
      const options = { ...OPTIONS, serviceMinWorkId: 7, serviceMaxWorkId: 7 };
      let last = 0n;
      for (let start = 0; start < 3; start++) {
        const app = await startApp([typeorm(database.options), RaindropModule.forRoot(options)]);
        const id = app.get(IdService).nextId();
        expect(id).toBeGreaterThan(last);
        last = id;
        await app.close();
      }
    });
  }

  it('starts eight applications at once on an empty database, each with a worker of its own', async () => {
    const apps = await Promise.all(
      Array.from({ length: 8 }, () => startApp([typeorm(database.options), RaindropModule.forRoot(OPTIONS)])),
    );
    const services = apps.map((app) => app.get(IdService));
    expect(new Set(services.map(({ workerId }) => workerId)).size).toBe(8);
    const ids = services.flatMap((service) => service.nextIds(1_000));
    expect(new Set(ids).size).toBe(8_000);
    await Promise.all(apps.map((app) => app.close()));
  });

  if (isOfTier) {
    it('does not start when every worker is taken, and says what to do', async () => {
      const options = { ...OPTIONS, serviceMinWorkId: 1, serviceMaxWorkId: 1 };
      const app = await startApp([typeorm(database.options), RaindropModule.forRoot(options)]);
      const failure = await startApp([typeorm(database.options), RaindropModule.forRoot(options)]).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(NoFreeWorkerError);
      expect(failure).toMatchObject({ retryable: true, census: { total: 1, live: 1 } });
      expect((failure as Error).message).toContain('waitForWorkerMs');
      await app.close();
    });
  }

  if (isOfTier) {
    it('waits for a worker where it is told to', async () => {
      const options = { ...OPTIONS, serviceMinWorkId: 1, serviceMaxWorkId: 1, waitForWorkerMs: 20_000 };
      const first = await startApp([typeorm(database.options), RaindropModule.forRoot(options)]);
      const second = startApp([typeorm(database.options), RaindropModule.forRoot(options)]);
      const id = first.get(IdService).nextId();
      await first.close();
      const app = await second;
      expect(app.get(IdService).nextId()).toBeGreaterThan(id);
      await app.close();
    });
  }

  if (isOfTier) {
    it('keeps several named services apart', async () => {
      @Injectable()
      class Uses {
        constructor(
          readonly ids: IdService,
          @InjectIdService('orders') readonly orders: IdService,
        ) {}
      }
      const app = await startApp(
        [
          typeorm(database.options),
          RaindropModule.forRoot(OPTIONS),
          RaindropModule.forRoot({ ...OPTIONS, name: 'orders', endBitsValue: 1 }),
        ],
        [Uses],
      );
      const { ids, orders } = app.get(Uses);
      expect(orders).toBe(app.get(getIdServiceToken('orders')));
      expect([ids.name, orders.name]).toEqual(['default', 'orders']);
      expect(ids.workerId).not.toBe(orders.workerId);
      expect([ids.parse(ids.nextId()).endBits, orders.parse(orders.nextId()).endBits]).toEqual([0, 1]);
      await app.close();
    });
  }

  it.each([
    ['names address and hardware address in the row', false, /^[\da-f.:]+#8080#2#[\da-f:]*$/],
    ['stores a hash in their place where hashCode is on', true, /^[\da-f]{64}$/],
  ])('%s', async (_, hashCode, form) => {
    const options = { ...OPTIONS, servicePort: 8_080, hashCode };
    const app = await startApp([typeorm(database.options), RaindropModule.forRoot(options)]);
    const source = await new DataSource(database.options).initialize();
    const rows: { code: string; holder: string }[] = await source.query(
      `SELECT code, holder FROM soc_raindrop_worker WHERE id = ${app.get(IdService).workerId}`,
    );
    await source.destroy();
    await app.close();
    expect(rows[0]!.code).toMatch(form);
    expect(rows[0]!.holder.includes(hostname())).toBe(!hashCode);
  });

  it('leases from a database of its own when dbConfig names one', async () => {
    const app = await startApp([RaindropModule.forRoot({ ...OPTIONS, dbConfig: database.options })]);
    expect(app.get(IdService).nextString()).toMatch(/^\d+$/);
    await app.close();
    expect((await tokens()).every(({ token }) => token === '')).toBe(true);
  });

  if (isOfTier) {
    it('takes no worker when an entity is refused, and the application does not start', async () => {
      const wrong = new EntitySchema<{ id: bigint; parent: unknown }>({
        name: 'wrong',
        columns: { id: snowflakeColumn({ as: 'bigint' }) },
        relations: { parent: { type: 'many-to-one', target: 'wrong' } },
      });
      const options = { ...database.options, entities: [wrong] };
      const failure = await startApp([typeorm(options), RaindropModule.forRoot(OPTIONS)]).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ errorCode: 'ENTITY_LINT' });
      // Nor does the table remember a layout: there is none yet.
      await expect(tokens()).rejects.toThrow('soc_raindrop_worker');
    });
  }

  it('takes no worker when the connection rounds IDs, or a column cannot hold them', async () => {
    const entity = new EntitySchema<{ id: string }>({ name: 'narrow', columns: { id: snowflakeColumn() } });
    const source = await new DataSource(database.options).initialize();
    await source.query(`CREATE TABLE narrow (id ${kind === 'sqlite' ? 'real' : 'int'} PRIMARY KEY)`);
    await source.destroy();
    const options = { ...database.options, entities: [entity] };
    await expect(startApp([typeorm(options), RaindropModule.forRoot(OPTIONS)])).rejects.toMatchObject({
      errorCode: 'ENTITY_LINT',
      problems: [{ entity: 'narrow', problem: expect.stringContaining('in the database') as string }],
    });
    await expect(tokens()).rejects.toThrow('soc_raindrop_worker');
  });

  if (isOfTier) {
    it('serves every call', async () => {
      const app = await startApp([typeorm(database.options), RaindropModule.forRoot(OPTIONS)]);
      const ids = app.get(IdService);
      const wait: WaitOptions = { timeoutMs: 60_000 };
      const all = [
        ids.nextId(),
        BigInt(ids.nextString()),
        ...ids.nextIds(2),
        ...ids.nextStrings(2).map(BigInt),
        ...ids.fill(new BigInt64Array(2)),
        await ids.nextIdAsync(undefined, wait),
        BigInt(await ids.nextStringAsync()),
        ...(await ids.nextIdsAsync(2)),
        ...(await ids.nextStringsAsync(2)).map(BigInt),
        ...(await ids.fillAsync(new BigInt64Array(2))),
      ];
      expect(new Set(all).size).toBe(all.length);
      expect(all).toEqual([...all].sort((a, b) => (a < b ? -1 : 1)));
      expect(ids.parse(ids.forCode('invoice').nextId()).sequence).toBe(0);
      expect(ids.status().counters).toMatchObject({ issued: all.length + 1, codes: 1 });
      await app.close();
    });
  }
});

describe('The ways to configure RaindropModule', () => {
  const database = useDatabase('sqlite', 'suite');

  @Injectable()
  class Settings implements RaindropOptionsFactory {
    createRaindropOptions(): SnowflakeModuleOptions {
      return { ...OPTIONS, serviceMinWorkId: 3, serviceMaxWorkId: 5 };
    }
  }

  @Module({ providers: [Settings], exports: [Settings] })
  class SettingsModule {}

  it.each([
    [
      'useFactory',
      {
        imports: [SettingsModule],
        inject: [Settings],
        useFactory: (settings: Settings) => Promise.resolve(settings.createRaindropOptions()),
      },
    ],
    ['useClass', { useClass: Settings }],
    ['useExisting', { imports: [SettingsModule], useExisting: Settings }],
  ])('takes options from %s', async (_, async) => {
    const app = await startApp([typeorm(database.options), RaindropModule.forRootAsync(async)]);
    expect([3, 4, 5]).toContain(app.get(IdService).workerId);
    await app.close();
  });

  it('reports all that is wrong at once, when the application starts', async () => {
    const wrong = { ...OPTIONS, timeStampLength: 12, leaseMs: '60000', serviceMaxWorkID: 7, tableName: 'x; drop' };
    const failure = await startApp([
      typeorm(database.options),
      RaindropModule.forRoot(wrong as unknown as SnowflakeModuleOptions),
    ]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect((failure as ConfigurationError).problems.map(({ option }) => option).sort()).toEqual([
      'leaseMs',
      'serviceMaxWorkID',
      'tableName',
      'timeStampLength',
    ]);
    expect((failure as Error).message).toContain('did you mean serviceMaxWorkId?');
    expect((failure as Error).message).toContain('Number(...)');
  });

  it('says what is missing when there is no database', async () => {
    const failure = await startApp([RaindropModule.forRoot(OPTIONS)]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect((failure as Error).message).toContain('TypeOrmModule.forRoot');
  });

  it('refuses a database in memory, unless it is allowed', async () => {
    const memory = typeorm({ type: 'better-sqlite3', database: ':memory:' });
    const failure = await startApp([memory, RaindropModule.forRoot(OPTIONS)]).catch((error: unknown) => error);
    expect(failure).toMatchObject({ errorCode: 'VOLATILE_DATABASE', retryable: false });
    const apps = await Promise.all(
      [1, 2].map(() => startApp([memory, RaindropModule.forRoot({ ...OPTIONS, allowVolatile: true })])),
    );
    const [a, b] = apps.map((app) => app.get(IdService).workerId);
    expect(a).not.toBe(b);
    await Promise.all(apps.map((app) => app.close()));
  });

  it('warns of a schema that is dropped at every start', async () => {
    const warn = jest.fn();
    const logger = { ...OPTIONS.logger!, warn };
    const app = await startApp([
      typeorm({ ...database.options, dropSchema: true }),
      RaindropModule.forRoot({ ...OPTIONS, logger }),
    ]);
    await app.close();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('dropSchema'), 'Raindrop');
  });

  it.each([{ name: '' }, { name: 7 }, { dataSource: [] }])('refuses %j where the module is imported', (extras) => {
    expect(() => RaindropModule.forRoot({ ...OPTIONS, ...extras } as never)).toThrow(ConfigurationError);
  });

  it('issues under a worker id given by hand, without a database, and warns of it', async () => {
    const warn = jest.fn();
    const options = {
      ...OPTIONS,
      workerIdAssigner: 'static' as const,
      workerId: 9,
      logger: { ...OPTIONS.logger!, warn },
    };
    const app = await startApp([RaindropModule.forRoot(options)]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('set by hand'), 'Raindrop');
    const ids = app.get(IdService);
    expect(ids.parse(ids.nextId()).workerId).toBe(9);
    await app.close();
    expect(() => ids.nextId()).toThrow(ClosedError);
  });

  it('refuses bits of snowflakes in segment mode, whatever its case, instead of ignoring them', async () => {
    const options = { ...OPTIONS, idMode: 'NumberSection' } as unknown as SegmentModuleOptions;
    const failure = await startApp([typeorm(database.options), RaindropModule.forRoot(options)]).catch(
      (error: unknown) => error,
    );
    expect((failure as Error).message).toMatch(/timeStampLength.*is for idMode: 'snowflake'/);
  });
});
