import { realType } from './real-columns.js';

const LARGEST = 2n ** 63n - 1n;

describe('Real types of columns', () => {
  it.each([
    ['mysql', 'bigint(20)'],
    ['mysql', 'bigint unsigned'],
    ['mysql', 'decimal(20,0)'],
    ['mysql', 'decimal(21,2)'],
    ['postgres', 'bigint'],
    ['postgres', 'numeric'],
    ['postgres', 'numeric(19,0)'],
    ['postgres', 'a_type_of_an_extension'],
    ['better-sqlite3', 'integer'],
    ['better-sqlite3', 'SMALLINT'],
    ['better-sqlite3', 'decimal(3)'],
  ])('holds every ID: %s %s', (database, type) => {
    expect(realType(type, database, LARGEST)).toBeUndefined();
  });

  it.each([
    ['mysql', 'int(11)', /at most 2147483647:/],
    ['mysql', 'int(10) unsigned', /at most 4294967295:/],
    ['mysql', 'mediumint(9)', /at most 8388607:/],
    ['mariadb', 'tinyint(1)', /at most 127:/],
    ['mysql', 'double', /rounds/],
    ['mysql', 'varchar(18)', /too short for IDs of 19 digits/],
    ['mysql', 'decimal(20,2)', /too short/],
    ['mysql', 'binary(16)', /cannot hold IDs/],
    ['postgres', 'smallint', /at most 32767:/],
    ['postgres', 'integer', /at most 2147483647:/],
    ['postgres', 'uuid', /cannot hold IDs/],
    ['postgres', 'character', /too short/],
    ['postgres', 'double precision', /rounds/],
    ['better-sqlite3', 'REAL', /rounds/],
  ])('refuses %s %s', (database, type, problem) => {
    expect(realType(type, database, LARGEST)).toMatchObject({ isCertain: true });
    expect(realType(type, database, LARGEST)!.problem).toMatch(problem);
  });

  it.each([
    ['mysql', 'varchar(19)'],
    ['mysql', 'longtext'],
    ['postgres', 'text'],
    ['postgres', 'character varying'],
    ['better-sqlite3', 'varchar(3)'],
    ['better-sqlite3', ''],
  ])('is unsure of texts: %s %s', (database, type) => {
    expect(realType(type, database, LARGEST)).toMatchObject({ isCertain: false });
  });

  it('judges by the largest ID that there may be', () => {
    expect(realType('int(11)', 'mysql', 2n ** 31n - 1n)).toBeUndefined();
    expect(realType('integer', 'postgres', 2n ** 31n)).toBeDefined();
  });
});
