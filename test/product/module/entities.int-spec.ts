import { IdService, getIdServiceToken, RaindropModule } from '@raindrop/nestjs';
import { GeneratedSnowflake, snowflakeColumn, UnknownEntityError } from '@raindrop/nestjs/typeorm';
import { typedId } from '@raindrop/core';
import {
  DataSource,
  Entity,
  EntitySchema,
  EventSubscriber,
  type EntitySubscriberInterface,
  type InsertEvent,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';

@Entity()
class Order {
  @GeneratedSnowflake({ prefix: 'order' })
  id!: string;

  @GeneratedSnowflake({ primary: false, code: 'invoice' })
  invoice!: string;

  @GeneratedSnowflake({ primary: false, service: 'short' })
  number!: number;
}

@Entity()
class Visit {
  @GeneratedSnowflake()
  id!: string;
}

interface Note {
  id: string;
}
const noteSchema = new EntitySchema<Note>({ name: 'note', columns: { id: snowflakeColumn() } });

const seen: unknown[] = [];

@EventSubscriber()
class Witness implements EntitySubscriberInterface {
  beforeInsert({ entity }: InsertEvent<{ id?: unknown }>): void {
    seen.push(entity?.id);
  }
}

/** IDs below 2^53 for centuries. */
const SHORT = { ...OPTIONS, timeStampLength: 44, workIdLength: 3, endBitsLength: 1, tableName: 'short_worker' };

describe('Entities of several services and DataSources', () => {
  const main = useDatabase('sqlite', 'test');
  const audit = useDatabase('mariadb', 'test');
  const entities = [Order, noteSchema];

  const start = (...more: Parameters<typeof startApp>[0]) =>
    startApp([
      typeorm({ ...main.options, entities, synchronize: true, subscribers: [Witness] }),
      typeorm({ ...audit.options, entities: [Visit], synchronize: true }, 'audit'),
      ...more,
    ]);

  const both = [
    RaindropModule.forRoot({ ...OPTIONS, dataSource: ['default', 'audit'] }),
    RaindropModule.forRoot({ ...SHORT, name: 'short' }),
  ];

  it('fills each column from its service, on each DataSource, before subscribers of the user', async () => {
    const app = await start(...both);
    const [ids, short] = [app.get(IdService), app.get<IdService>(getIdServiceToken('short'))];
    const order = await app.get(DataSource).manager.save(new Order());
    expect(seen).toContain(order.id);
    expect(ids.parse(typedId('order').decode(order.id)).workerId).toBe(ids.workerId);
    expect(ids.parse(order.invoice).sequence).toBe(0);
    expect(short.parse(order.number).workerId).toBe(short.workerId);
    expect(await app.get(DataSource).manager.findOneByOrFail(Order, { id: order.id })).toEqual(order);
    const visit = await app.get<DataSource>('auditDataSource').manager.save(new Visit());
    expect(ids.parse(visit.id).workerId).toBe(ids.workerId);
    await app.close();
  });

  it('does not start on columns that were never migrated, and gives its worker id back', async () => {
    const narrow = await new DataSource(audit.options).initialize();
    await narrow.query('DROP TABLE IF EXISTS visit');
    await narrow.query('CREATE TABLE visit (id int NOT NULL PRIMARY KEY)');
    const modules = (lint: 'error' | 'warn') => [
      typeorm({ ...audit.options, entities: [Visit] }),
      RaindropModule.forRoot({ ...OPTIONS, serviceMinWorkId: 1, serviceMaxWorkId: 1, lint }),
    ];
    await expect(startApp(modules('error'))).rejects.toMatchObject({
      errorCode: 'ENTITY_LINT',
      message: expect.stringMatching(
        /visit\.id is int\(11\) .*ALTER TABLE `visit` MODIFY `id` bigint NOT NULL/,
      ) as string,
    });
    // The only worker id there is.
    const app = await startApp(modules('warn'));
    await app.close();
    await narrow.query('DROP TABLE visit');
    await narrow.destroy();
  });

  it('assigns IDs before an insert that calls no subscribers', async () => {
    const app = await start(...both);
    const [ids, short] = [app.get(IdService), app.get<IdService>(getIdServiceToken('short'))];
    const { manager } = app.get(DataSource);
    const order = short.assign(ids.assign(new Order()));
    const { id } = order;
    expect(ids.assign(order).id).toBe(id);
    await manager.save(order, { listeners: false });
    expect(await manager.findOneByOrFail(Order, { id })).toEqual(order);

    const note = ids.assign<Partial<Note>>({}, noteSchema);
    expect(ids.assign<Partial<Note>>({}, 'note').id).not.toBe(note.id);
    await manager.createQueryBuilder().insert().into(noteSchema).values(note).callListeners(false).execute();
    expect(await manager.existsBy(noteSchema, { id: note.id! })).toBe(true);

    const pair = ids.assign([new Order(), new Order()]);
    expect(new Set(pair.map((each) => each.id)).size).toBe(2);
    expect(Object.keys(pair)).toEqual(['0', '1']);

    class Stranger {}
    for (const attempt of [
      () => ids.assign({}),
      () => ids.assign(new Stranger()),
      () => short.assign({}, noteSchema),
    ]) {
      expect(attempt).toThrow(UnknownEntityError);
    }
    await app.close();
    expect(() => ids.assign(new Order())).toThrow(UnknownEntityError);
  });

  it('does not start when a column names a service that no module imports, and gives every worker back', async () => {
    const other = RaindropModule.forRoot({ ...SHORT, name: 'other' });
    const failure = await start(both[0]!, other).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      errorCode: 'ENTITY_LINT',
      problems: [
        {
          entity: 'Order',
          property: 'number',
          driver: 'better-sqlite3',
          problem: "there is no service 'short' for this DataSource",
          cure: expect.stringContaining("name: 'short'") as string,
        },
      ],
    });
    const admin = await new DataSource(main.options).initialize();
    for (const table of ['soc_raindrop_worker', 'short_worker']) {
      expect(await admin.query(`SELECT id FROM ${table} WHERE token <> ''`)).toEqual([]);
    }
    await admin.destroy();
  });

  it('does not start when the entities of a DataSource need a service that was not given it', async () => {
    const imports = (dataSource: string | string[]): Parameters<typeof startApp>[0] => [
      typeorm({ ...main.options, entities: [noteSchema], synchronize: true }),
      typeorm({ ...audit.options, entities: [Visit], synchronize: true }, 'audit'),
      RaindropModule.forRoot({ ...OPTIONS, dataSource }),
      RaindropModule.forRoot({ ...SHORT, name: 'short' }),
    ];
    await expect(startApp(imports('default'))).rejects.toMatchObject({
      errorCode: 'ENTITY_LINT',
      problems: [
        {
          severity: 'error',
          entity: 'Visit',
          property: 'id',
          driver: 'mariadb',
          problem: "no service fills the DataSource 'audit'",
          cure: expect.stringContaining("dataSource: 'audit'") as string,
        },
      ],
    });
    const admin = await new DataSource(main.options).initialize();
    for (const table of ['soc_raindrop_worker', 'short_worker']) {
      expect(await admin.query(`SELECT id FROM ${table} WHERE token <> ''`)).toEqual([]);
    }
    await admin.destroy();
    await (await startApp(imports(['default', 'audit']))).close();
  });

  it('saves entities in migrations that are run when it is up, and names that way where TypeORM runs them first', async () => {
    class SaveVisit1795000000000 implements MigrationInterface {
      async up({ manager }: QueryRunner): Promise<void> {
        await manager.save(new Visit());
      }

      async down(): Promise<void> {}
    }
    const options = { ...main.options, entities: [Visit], synchronize: true, migrations: [SaveVisit1795000000000] };
    const raindrop = RaindropModule.forRoot(OPTIONS);
    await expect(startApp([typeorm({ ...options, migrationsRun: true }), raindrop])).rejects.toMatchObject({
      errorCode: 'SNOWFLAKE_NOT_ASSIGNED',
      why: 'unattached',
      message: expect.stringMatching(/migrationsRun.*app\.get\(DataSource\)\.runMigrations\(\)/) as string,
    });
    const app = await startApp([typeorm(options), raindrop]);
    await app.get(DataSource).runMigrations();
    const [visit] = await app.get(DataSource).manager.find(Visit);
    expect(app.get(IdService).parse(visit!.id).workerId).toBe(app.get(IdService).workerId);
    await app.close();
  });

  it.each(['warn', 'off'] as const)("starts all the same with lint: '%s', and refuses the insert", async (lint) => {
    const warnings: string[] = [];
    const logger = { ...OPTIONS.logger!, warn: (message: string) => void warnings.push(message) };
    const app = await start(RaindropModule.forRoot({ ...OPTIONS, lint, logger, dataSource: ['default', 'audit'] }));
    const told = warnings.filter((each) => each.startsWith('order.number'));
    expect(told).toHaveLength(lint === 'warn' ? 1 : 0);
    await expect(app.get(DataSource).manager.save(new Order())).rejects.toMatchObject({
      errorCode: 'SNOWFLAKE_NOT_ASSIGNED',
      service: 'short',
      why: 'unattached',
    });
    await app.close();
  });
});
