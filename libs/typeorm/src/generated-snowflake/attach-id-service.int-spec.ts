import { openIdService, type IdService } from '@raindrop/node';
import type { FieldPacket } from 'mysql2';
import { types } from 'pg';
import { Column, DataSource, Entity, type DataSourceOptions } from 'typeorm';
import { OPTIONS } from '../../../../test/support/module/module-fixture.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { dataSourceDatabase } from '../connection/data-source-database.js';
import { attachIdService } from './attached-snowflakes.js';
import { checkPrecision } from './check-precision.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';

@Entity()
class Visit {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 9 })
  page!: string;
}

describe.each(databaseKinds)('A script without Nest on %s', (kind) => {
  const narrow = { sqlite: 'real', postgres: 'int', mariadb: 'int', mysql: 'int' }[kind];
  const opened: DataSource[] = [];
  const warned: string[] = [];
  const lint = { mode: 'error' as const, warn: (message: string) => void warned.push(message) };
  /** The statements that look at the columns. */
  const looks: string[] = [];
  let database: TestDatabase;
  let ids: IdService;

  beforeEach(async () => {
    database = await testDatabase(kind);
    ids = await openIdService({ ...OPTIONS, dbConfig: dataSourceDatabase(database.options) });
    warned.length = 0;
    looks.length = 0;
  });

  afterEach(async () => {
    await ids.close();
    await Promise.all(opened.splice(0).map((each) => each.destroy()));
    await database.drop();
  });

  const logQuery = (sql: string): void => void (sql.includes('9223372036854775807') && looks.push(sql));
  const nothing = (): void => undefined;
  const logger = {
    logQuery,
    logQueryError: nothing,
    logQuerySlow: nothing,
    logSchemaBuild: nothing,
    logMigration: nothing,
    log: nothing,
  };

  const open = async (more: object = {}, key?: string): Promise<DataSource> => {
    const options = { ...database.options, entities: [Visit], logger, ...more } as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    opened.push(dataSource);
    if (key !== undefined) await dataSource.query(`CREATE TABLE visit (id ${key} PRIMARY KEY, page varchar(9))`);
    return dataSource;
  };

  const rows = async (dataSource: DataSource): Promise<number> =>
    (await dataSource.query<unknown[]>('SELECT page FROM visit')).length;

  it('fills the columns of its DataSource, until it detaches', async () => {
    const dataSource = await open({ synchronize: true });
    const detach = attachIdService(dataSource, ids);
    const visits = dataSource.getRepository(Visit);
    const saved = await visits.save([{ page: 'a' }, { page: 'b' }]);
    expect(saved.map(({ id }) => ids.parse(id).workerId)).toEqual([ids.workerId, ids.workerId]);
    detach();
    detach();
    await expect(visits.save({ page: 'c' })).rejects.toThrow(SnowflakeNotAssignedError);
  });

  it('is refused at its first insert by a column that cannot hold IDs, whatever inserts, until the column can', async () => {
    const dataSource = await open({}, narrow);
    attachIdService(dataSource, ids, { lint });
    const visits = dataSource.getRepository(Visit);
    const refused = { errorCode: 'ENTITY_LINT', problems: [{ entity: 'Visit', property: 'id' }] };
    const ways = [
      () => visits.save({ page: 'a' }),
      () => visits.insert([{ page: 'a' }, { page: 'b' }]),
      () => visits.createQueryBuilder().insert().values({ page: 'a' }).execute(),
      () => visits.createQueryBuilder().insert().values({ id: '7', page: 'a' }).callListeners(false).execute(),
      () => dataSource.transaction((manager) => manager.save(Visit, { page: 'a' })),
    ];
    for (const way of ways) await expect(way()).rejects.toMatchObject(refused);
    expect(await rows(dataSource)).toBe(0);
    await dataSource.query('DROP TABLE visit');
    await dataSource.query('CREATE TABLE visit (id bigint PRIMARY KEY, page varchar(9))');
    for (const way of ways) await way();
    expect(await rows(dataSource)).toBe(6);
    expect(looks).toHaveLength(6);
  });

  it('asks once, and not again after checkPrecision(), until it is initialized anew', async () => {
    const dataSource = await open({ synchronize: true });
    attachIdService(dataSource, ids);
    const insert = (page: string): Promise<unknown> => dataSource.getRepository(Visit).insert({ page });
    await Promise.all(['a', 'b', 'c'].map(insert));
    await insert('d');
    expect(looks).toHaveLength(1);
    await checkPrecision(dataSource);
    expect(looks).toHaveLength(2);
    await dataSource.destroy();
    await dataSource.initialize();
    await checkPrecision(dataSource, { layout: ids.layout });
    attachIdService(dataSource, ids);
    await insert('e');
    expect(looks).toHaveLength(3);
  });

  it('asks over the connection of its transaction: the pool may have no other', async () => {
    const dataSource = await open({ synchronize: true, ...(kind !== 'sqlite' && { poolSize: 1 }) });
    attachIdService(dataSource, ids);
    await dataSource.transaction((manager) => manager.insert(Visit, { page: 'a' }));
    expect(await rows(dataSource)).toBe(1);
  });

  it('is refused where its connection rounds IDs', async () => {
    if (kind === 'postgres') {
      const getTypeParser = (oid: number, format: 'text'): unknown =>
        oid === 20 ? Number : (types.getTypeParser(oid, format) as unknown);
      const dataSource = await open({ synchronize: true, extra: { types: { getTypeParser } } });
      expect(() => attachIdService(dataSource, ids)).toThrow(
        /connection returns 9223372036854776000 \(a number\) for the ID 9223372036854775807\. .*extra\.types/,
      );
    } else if (kind !== 'sqlite') {
      const typeCast = (field: FieldPacket & { string(): string }, next: () => unknown): unknown =>
        (field.type as unknown) === 'LONGLONG' ? Number(field.string()) : next();
      const dataSource = await open({ synchronize: true, extra: { typeCast } });
      attachIdService(dataSource, ids);
      await expect(dataSource.getRepository(Visit).save({ page: 'a' })).rejects.toThrow(/extra\.typeCast/);
      expect(await rows(dataSource)).toBe(0);
    }
  });

  it('warns once of what does not stop it, and asks nothing with lint off', async () => {
    const dataSource = await open({}, 'varchar(20)');
    attachIdService(dataSource, ids, { lint });
    await dataSource.getRepository(Visit).insert({ page: 'a' });
    await dataSource.getRepository(Visit).insert({ page: 'b' });
    expect(warned).toEqual([expect.stringContaining('compares IDs as text')]);
    const other = await open();
    attachIdService(other, ids, { lint: { ...lint, mode: 'off' } });
    await other.getRepository(Visit).insert({ page: 'c' });
    expect(looks).toHaveLength(1);
  });

  if (kind === 'postgres') {
    it('inserts, with a warning, where the server does not answer, also in a transaction', async () => {
      const dataSource = await open({ synchronize: true, extra: { options: '-c search_path=public,pg_catalog' } });
      await dataSource.query(
        `CREATE FUNCTION public.to_regclass(text) RETURNS regclass LANGUAGE plpgsql AS $$ BEGIN RAISE 'not here'; END $$`,
      );
      attachIdService(dataSource, ids, { lint });
      await dataSource.getRepository(Visit).save([{ page: 'a' }, { page: 'b' }]);
      await dataSource.getRepository(Visit).insert({ page: 'c' });
      expect(await rows(dataSource)).toBe(3);
      expect(warned).toEqual([expect.stringContaining('not here')]);
    });
  }
});
