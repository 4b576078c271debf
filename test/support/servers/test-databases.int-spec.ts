import { DataSource } from 'typeorm';
import { databaseKinds, testDatabase, TestDatabase } from './test-databases';

describe.each(databaseKinds)('testDatabase(%s)', (kind) => {
  it('gives an empty database that keeps a row and is gone after drop', async () => {
    const database = await testDatabase(kind);
    const source = await new DataSource({ ...database.options, entities: [] }).initialize();
    await source.query('CREATE TABLE drops (id bigint PRIMARY KEY, name varchar(20))');
    await source.query("INSERT INTO drops (id, name) VALUES (9007199254740991, 'first')");
    const rows = await source.query<{ name: string }[]>('SELECT name FROM drops');
    await source.destroy();
    expect(rows).toEqual([{ name: 'first' }]);
    expect(database).toMatchObject({ kind, version: expect.stringMatching(/^\d+\./) as string });

    await database.drop();
    // MariaDB and PostgreSQL refuse the login; for SQLite, TypeORM makes an empty file anew.
    await expect(readAgain(database)).rejects.toThrow();
    await database.drop();
  });

  it('gives another database every time', async () => {
    const databases = await Promise.all([testDatabase(kind), testDatabase(kind), testDatabase(kind)]);
    expect(new Set(databases.map((database) => database.options.database)).size).toBe(3);
    await Promise.all(databases.map((database) => database.drop()));
  });

  it('drops a database to which a pool is still connected', async () => {
    const database = await testDatabase(kind);
    const source = await new DataSource({ ...database.options, entities: [] }).initialize();
    await source.query('CREATE TABLE drops (id bigint PRIMARY KEY)');
    await database.drop();
    await source.destroy();
    await expect(readAgain(database)).rejects.toThrow();
    await database.drop();
  });
});

async function readAgain({ options }: TestDatabase): Promise<void> {
  const source = await new DataSource({ ...options, entities: [] }).initialize();
  try {
    await source.query('SELECT name FROM drops');
  } finally {
    await source.destroy();
  }
}
