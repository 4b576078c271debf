import { TypeOrmModule } from '@nestjs/typeorm';
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
});
