import { DataSource, type DataSourceOptions } from 'typeorm';
import { UnsupportedDatabaseError } from '@raindrop/node';
import { OwnDatabase } from '@raindrop/node/internal';
import { dataSourceDatabase, ownDataSourceOptions, sqliteVersionsOf } from './data-source-database.js';

function open(options: object): OwnDatabase {
  return new OwnDatabase(dataSourceDatabase(options as DataSourceOptions), { opTimeoutMs: 3_000 });
}

describe('the database of a DataSource', () => {
  it.each(['aurora-mysql', 'cockroachdb', 'mongodb', 'mssql'])('is refused when it is %s', (type) => {
    expect(() => open({ type })).toThrow(UnsupportedDatabaseError);
    expect(() => open({ type })).toThrow(
      `'${type}' cannot store worker ids and numbers. Supported are 'mysql', 'mariadb',`,
    );
  });

  it('is refused when it is in memory', () => {
    expect(() => open({ type: 'better-sqlite3', database: ':memory:' })).toThrow(/second connection/);
  });

  it.each([
    [true, { type: 'better-sqlite3', database: ':memory:' }],
    [true, { type: 'better-sqlite3', database: '' }],
    [true, { type: 'better-sqlite3', database: ' ' }],
    [true, { type: 'better-sqlite3', database: Buffer.alloc(1) }],
    [true, { type: 'better-sqlite3', database: 'file:x?mode=memory&cache=shared' }],
    [true, { type: 'sqljs' }],
    [false, { type: 'better-sqlite3', database: 'memory.sqlite' }],
    [false, { type: 'postgres', database: ':memory:' }],
    [false, { type: 'mariadb' }],
  ])('is volatile: %s, for %j', (expected, options) => {
    expect(dataSourceDatabase(options as unknown as DataSourceOptions).isVolatile).toBe(expected);
  });

  it('warns of a DataSource that drops our table at every start', () => {
    const options: DataSourceOptions = { type: 'postgres', dropSchema: true };
    expect(dataSourceDatabase(options).warnings()).toEqual([expect.stringContaining('dropSchema')]);
  });
});

const APPLICATION = {
  entities: ['a.js'],
  subscribers: ['b.js'],
  migrations: ['c.js'],
  migrationsRun: true,
  synchronize: true,
  dropSchema: true,
  logging: 'all',
  maxQueryExecutionTime: 5,
  cache: true,
  poolSize: 50,
};

function derived(options: object): Record<string, unknown> {
  const result = ownDataSourceOptions(options as DataSourceOptions, { opTimeoutMs: 3_000 });
  return result as unknown as Record<string, unknown>;
}

describe("the lease's DataSource", () => {
  it.each(['mysql', 'mariadb', 'postgres'])(
    'has nothing of the application but the way to the database (%s)',
    (type) => {
      const result = derived({
        ...APPLICATION,
        type,
        host: 'db',
        port: 1,
        username: 'u',
        password: 'p',
        database: 'd',
      });
      expect(result).toMatchObject({ type, host: 'db', port: 1, username: 'u', password: 'p', database: 'd' });
      expect(result).toMatchObject({ migrationsRun: false, synchronize: false, dropSchema: false, logging: false });
      expect(result).toMatchObject({ poolSize: 1 });
      for (const name of ['entities', 'subscribers', 'migrations', 'cache', 'maxQueryExecutionTime', 'replication']) {
        expect(result[name]).toBeUndefined();
      }
    },
  );

  it('opens one MySQL connection, whatever the driver was told', () => {
    const extra = { connectionLimit: 20, maxIdle: 0, rowsAsArray: true, connectTimeout: 60_000, charset: 'latin1' };
    expect(derived({ type: 'mysql', extra, supportBigNumbers: false })).toMatchObject({
      supportBigNumbers: true,
      bigNumberStrings: true,
      connectTimeout: 3_000,
      extra: { connectionLimit: 1, maxIdle: 1, rowsAsArray: false, connectTimeout: 3_000, charset: 'latin1' },
    });
    // mysql2 before 3.15 warns of it. The one connection is never released to the pool.
    expect(derived({ type: 'mysql', extra })['extra']).not.toHaveProperty('resetOnRelease');
  });

  it('opens one PostgreSQL connection and keeps it, whatever the driver was told', () => {
    const extra = { max: 20, min: 5, idleTimeoutMillis: 10, maxUses: 7, connectionTimeoutMillis: 0, options: '-c a=b' };
    const result = derived({ type: 'postgres', extra, parseInt8: true, installExtensions: true });
    expect(result).toMatchObject({
      connectTimeoutMS: 3_000,
      installExtensions: false,
      extra: { max: 1, min: 0, idleTimeoutMillis: 0, maxUses: 0, connectionTimeoutMillis: 3_000, options: '-c a=b' },
    });
    expect(result['parseInt8']).toBeUndefined();
  });

  it("never waits for SQLite's lock and leaves the journal mode alone", () => {
    const prepareDatabase = (): void => undefined;
    const options = { type: 'better-sqlite3', database: 'a.sqlite', enableWAL: true, timeout: 5_000, prepareDatabase };
    expect(derived(options)).toMatchObject({ database: 'a.sqlite', timeout: 0, enableWAL: false, prepareDatabase });
  });

  it.each(['mysql', 'postgres'])('goes to the master and to no other server (%s)', (type) => {
    const master = { host: 'master', username: 'm' };
    const slaves = [{ host: 'slave', username: 's' }];
    const result = derived({ type, host: 'top', password: 'top', ssl: true, replication: { master, slaves } });
    expect(result).toMatchObject({ host: 'master', username: 'm' });
    expect(result['replication']).toBeUndefined();
    expect(result['password']).toBeUndefined();
    expect(result['ssl']).toBe(type === 'mysql' ? true : undefined);
    expect(JSON.stringify(result)).not.toContain('slave');
  });

  it('is accepted by TypeORM', () => {
    for (const options of [
      { type: 'mariadb' },
      { type: 'postgres' },
      { type: 'better-sqlite3', database: 'a.sqlite' },
    ]) {
      const result = ownDataSourceOptions(options as DataSourceOptions, { opTimeoutMs: 3_000 });
      expect(new DataSource(result).isInitialized).toBe(false);
    }
  });
});

it('The version is read where TypeORM would load it', () => {
  const options: DataSourceOptions = { type: 'better-sqlite3', database: ':memory:' };
  const expected = process.versions.node.startsWith('20.') ? /^12\./ : /^13\./;
  expect(sqliteVersionsOf(options)?.driver).toMatch(expected);
});

it.each([
  { type: 'postgres' },
  { type: 'mysql' },
  { type: 'better-sqlite3', database: ':memory:', driver: {} },
] as DataSourceOptions[])('The version matters to no DataSource that does not load it (%j)', (options) => {
  expect(sqliteVersionsOf(options)).toBeUndefined();
});
