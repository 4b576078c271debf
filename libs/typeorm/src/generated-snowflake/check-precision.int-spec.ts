import type { Layout } from '@raindrop/core';
import type { FieldPacket } from 'mysql2';
import { types } from 'pg';
import { DataSource, Entity, PrimaryGeneratedColumn, type DataSourceOptions } from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachedTo, attachSnowflakes } from './attach-snowflakes.js';
import { checkPrecision } from './check-precision.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';

@Entity()
class Parcel {
  @GeneratedSnowflake()
  id!: string;
}

@Entity()
class Ticket {
  @GeneratedSnowflake({ as: 'number', service: 'short' })
  id!: number;
}

@Entity()
class Plain {
  @PrimaryGeneratedColumn()
  id!: number;
}

describe.each(databaseKinds)('The precision of a DataSource on %s', (kind) => {
  let database: TestDatabase;
  const opened: DataSource[] = [];

  beforeAll(async () => {
    database = await testDatabase(kind);
  });

  afterEach(() => Promise.all(opened.splice(0).map((each) => each.destroy())));

  afterAll(() => database.drop());

  const open = async (entities: (new () => object)[], more: object = {}): Promise<DataSource> => {
    const options = { ...database.options, entities, ...more } as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    opened.push(dataSource);
    return dataSource;
  };

  it('is exact as the drivers are, with and without a service, which stays as it was', async () => {
    const dataSource = await open([Parcel, Ticket]);
    const layout = { bits: 53, safeUntil: null } as Layout;
    const both = { exact: ['parcel.id', 'ticket.id'], warnings: [] };
    expect(await checkPrecision(dataSource, { layout })).toEqual(both);
    expect(attachedTo(dataSource)).toEqual([]);
    attachSnowflakes(dataSource, snowflakeSource());
    expect(await checkPrecision(dataSource, { layout })).toEqual(both);
    expect(attachedTo(dataSource)).toHaveLength(1);
  });

  it('warns of a key that the database still fills, before and after a service is attached', async () => {
    const dataSource = await open([Parcel]);
    const key = {
      postgres: 'bigserial',
      sqlite: 'integer',
      mariadb: 'bigint AUTO_INCREMENT',
      mysql: 'bigint AUTO_INCREMENT',
    };
    await dataSource.query(`CREATE TABLE parcel (id ${key[kind]} PRIMARY KEY)`);
    const filled = { exact: ['parcel.id'], warnings: [expect.stringMatching(/^parcel\.id .*still fills parcel\.id/)] };
    expect(await checkPrecision(dataSource)).toEqual(filled);
    attachSnowflakes(dataSource, snowflakeSource());
    expect(await checkPrecision(dataSource)).toEqual(filled);
    await dataSource.query('DROP TABLE parcel');
  });

  it('names the settings that round', async () => {
    const typeCast = (field: FieldPacket & { string(): string }, next: () => unknown): unknown =>
      (field.type as unknown) === 'LONGLONG' ? Number(field.string()) : next();
    const getTypeParser = (oid: number, format: 'text'): unknown =>
      oid === 20 ? Number : (types.getTypeParser(oid, format) as unknown);
    const rounding = { sqlite: {}, postgres: { extra: { types: { getTypeParser } } } }[kind as 'sqlite' | 'postgres'];
    const dataSource = await open([Parcel], rounding ?? { extra: { typeCast } });
    if (kind === 'sqlite') {
      // Attaching makes it exact.
      expect(await checkPrecision(dataSource)).toMatchObject({ exact: ['parcel.id'] });
      return;
    }
    await expect(checkPrecision(dataSource)).rejects.toMatchObject({
      errorCode: 'ENTITY_LINT',
      problems: [
        {
          problem: expect.stringMatching(
            /connection returns 9223372036854776000 .* for the ID 9223372036854775807$/,
          ) as string,
          cure: expect.stringMatching(/extra\.(typeCast|types)/) as string,
        },
      ],
    });
    expect(attachedTo(dataSource)).toEqual([]);
  });

  it('tells of other problems of the columns, and refuses to say anything of no column', async () => {
    const layout = { bits: 63, safeUntil: new Date(0) } as Layout;
    await expect(checkPrecision(await open([Ticket]), { layout })).rejects.toThrow(/ticket\.id .*passed 2\^53 - 1/);
    await expect(checkPrecision(await open([Plain]))).rejects.toMatchObject({ errorCode: 'CONFIGURATION' });
    const closed = new DataSource({ ...database.options, entities: [Parcel] });
    await expect(checkPrecision(closed)).rejects.toMatchObject({ errorCode: 'DATA_SOURCE_NOT_INITIALIZED' });
  });
});
