import { openIdService } from '@raindrop/node';
import { Column, DataSource, Entity } from 'typeorm';
import { OPTIONS } from '../../../../test/support/module/module-fixture.js';
import { databaseKinds, testDatabase } from '../../../../test/support/servers/test-databases.js';
import { dataSourceDatabase } from '../connection/data-source-database.js';
import { attachIdService } from './attached-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';

@Entity()
class Visit {
  @GeneratedSnowflake()
  id!: string;

  @Column()
  page!: string;
}

it.each(databaseKinds)(
  'A script without Nest fills the columns of its DataSource on %s, until it detaches',
  async (kind) => {
    const database = await testDatabase(kind);
    const dataSource = await new DataSource({ ...database.options, entities: [Visit], synchronize: true }).initialize();
    const ids = await openIdService({ ...OPTIONS, dbConfig: dataSourceDatabase(dataSource.options) });
    const detach = attachIdService(dataSource, ids);
    const visits = dataSource.getRepository(Visit);
    const saved = await visits.save([{ page: 'a' }, { page: 'b' }]);
    expect(saved.map(({ id }) => ids.parse(id).workerId)).toEqual([ids.workerId, ids.workerId]);
    detach();
    detach();
    await expect(visits.save({ page: 'c' })).rejects.toThrow(SnowflakeNotAssignedError);
    await ids.close();
    await dataSource.destroy();
    await database.drop();
  },
);
