import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { Column, DataSource, Entity } from 'typeorm';
import { OPTIONS, startApp, useDatabase } from '../../support/module/module-fixture.js';

@Entity()
class Parcel {
  @GeneratedSnowflake()
  id!: string;

  @Column()
  title!: string;
}

describe('A DataSource with manualInitialization', () => {
  const database = useDatabase('sqlite', 'test');

  it('gets its IDs once it is initialized and attached, and none before', async () => {
    const app = await startApp([
      TypeOrmModule.forRoot({ ...database.options, entities: [Parcel], synchronize: true, manualInitialization: true }),
      RaindropModule.forRoot(OPTIONS),
    ]);
    const source = app.get(DataSource);
    await source.initialize();
    const parcels = source.getRepository(Parcel);
    await expect(parcels.save({ title: 'tea' })).rejects.toMatchObject({ errorCode: 'SNOWFLAKE_NOT_ASSIGNED' });
    app.get(IdService).attach(source);
    const { id } = await parcels.save({ title: 'tea' });
    expect(id).toMatch(/^\d{10,}$/);
    await source.destroy();
    await app.close();
  });

  it('is asked at its first insert whether its columns can hold IDs; the others were asked at the start', async () => {
    const looks: string[] = [];
    const nothing = (): void => undefined;
    const logger = {
      logQueryError: nothing,
      logQuerySlow: nothing,
      logSchemaBuild: nothing,
      logMigration: nothing,
      log: nothing,
      logQuery: (sql: string) => void (sql.includes('pragma_table_info(t.value) AS c') && looks.push(sql)),
    };
    const options = { ...database.options, entities: [Parcel], logger };
    const app = await startApp([
      TypeOrmModule.forRoot({ ...options, name: 'late', manualInitialization: true }),
      TypeOrmModule.forRoot({ ...options, synchronize: true }),
      RaindropModule.forRoot(OPTIONS),
    ]);
    const early = app.get(DataSource);
    const asked = looks.length;
    await early.getRepository(Parcel).insert({ title: 'tea' });
    expect(looks).toHaveLength(asked);
    await early.query('DROP TABLE parcel');
    await early.query('CREATE TABLE parcel (id real PRIMARY KEY, title text)');
    const late = app.get<DataSource>(getDataSourceToken('late'));
    await late.initialize();
    app.get(IdService).attach(late);
    await expect(late.getRepository(Parcel).save({ title: 'tea' })).rejects.toMatchObject({ errorCode: 'ENTITY_LINT' });
    expect(await late.query('SELECT * FROM parcel')).toEqual([]);
    expect(looks).toHaveLength(asked + 1);
    await late.destroy();
    await app.close();
  });
});
