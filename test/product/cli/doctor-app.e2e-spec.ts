import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DataSource } from 'typeorm';
import { databaseUrl } from '../service/service-process.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { raindrop, raindropJson } from './cli-process.js';

// Applications of TypeORM; those of the other ORMs are in test/orms/precision.e2e-spec.ts.
const SECRET = 'hunter2-the-password';
const LAYOUT = ['--start', '2026-01-01', '--timestamp-bits', '33', '--worker-bits', '3', '--end-bits', '1'];

interface Findings {
  readonly state: string;
  readonly findings: readonly {
    readonly check: string;
    readonly state: string;
    readonly detail: string;
    readonly remedy?: string;
  }[];
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'raindrop-app-'));
  symlinkSync(resolve(__dirname, '../../../node_modules'), join(folder, 'node_modules'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const written = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const doctor = (path: string, ...args: string[]): ReturnType<typeof raindropJson<Findings>> =>
  raindropJson<Findings>(['doctor', '--app', path, ...args]);

describe.each(databaseKinds)('doctor --app with a DataSource on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => (database = await testDatabase(kind)));
  afterAll(() => database.drop());

  const schema = `new EntitySchema({ name: 'parcel', columns: { id: snowflakeColumn() } })`;
  const options = (more: string): string =>
    `{ ...${JSON.stringify(database.options)}, entities: [${schema}], synchronize: true, ${more} }`;

  it('finds it exact, among the findings of the table, and makes no table of its entities', async () => {
    const path = written(
      `${kind}.cjs`,
      `const { DataSource, EntitySchema } = require('typeorm');
       const { snowflakeColumn } = require('@raindrop/typeorm');
       exports.unused = 7;
       exports.source = new DataSource(${options('')});
       exports.again = exports.source;
       setInterval(() => {}, 1000);`,
    );
    const url = databaseUrl(database.options);
    await raindrop(['init', '--url', url, ...LAYOUT]);
    const { code, result } = await doctor(path, '--url', url, ...LAYOUT);
    const [first, ...others] = result.findings;
    expect(first).toMatchObject({ check: 'database', state: 'ok' });
    expect(others.at(-1)).toEqual({
      check: 'precision',
      state: 'ok',
      detail: 'source (TypeORM): IDs keep their digits: parcel.id',
    });
    expect(others.filter(({ check }) => check === 'precision')).toHaveLength(1);
    expect(code).toBe(result.state === 'ok' ? 0 : 3);
    const source = await new DataSource(database.options).initialize();
    await expect(source.query('SELECT * FROM parcel')).rejects.toThrow(/parcel/);
    await source.destroy();
  });

  it('finds what rounds, of an ES module that exports a promise', async () => {
    const rounding = {
      sqlite: `prepareDatabase: (database) => { database.defaultSafeIntegers(false); },`,
      postgres: `extra: { types: { getTypeParser: (oid) => (oid === 20 ? Number : String) } },`,
      mariadb: `extra: { typeCast: (field, next) => field.type === 'LONGLONG' ? Number(field.string()) : next() },`,
      mysql: `supportBigNumbers: false,`,
    }[kind];
    const path = written(
      `${kind}.mjs`,
      `import { DataSource, EntitySchema } from 'typeorm';
       import { snowflakeColumn } from '@raindrop/typeorm';
       export default new DataSource(${options(rounding)}).initialize();`,
    );
    const { code, result } = await doctor(path);
    if (kind === 'sqlite') {
      // Attaching a service makes it exact.
      expect([code, result.state]).toEqual([0, 'ok']);
      return;
    }
    expect({ code, findings: result.findings }).toEqual({
      code: 1,
      findings: [
        {
          check: 'precision',
          state: 'fail',
          detail: expect.stringMatching(
            /^default \(TypeORM\): parcel\.id: .* returns .* for the ID 9223372036854775807$/,
          ) as string,
          remedy: expect.stringMatching(/typeCast|extra\.types|supportBigNumbers/) as string,
        },
      ],
    });
  });
});

it('says of a database that is down what its driver says, and ends', async () => {
  const path = written(
    'down.cjs',
    `const { DataSource, EntitySchema } = require('typeorm');
     const { snowflakeColumn } = require('@raindrop/typeorm');
     const entities = [new EntitySchema({ name: 'parcel', columns: { id: snowflakeColumn() } })];
     exports.source = new DataSource({ type: 'postgres', url: 'postgres://u:${SECRET}@127.0.0.1:1/d', entities });
     exports.other = new DataSource({ type: 'better-sqlite3', database: ':memory:' });`,
  );
  const { code, result } = await doctor(path);
  expect({ code, findings: result.findings }).toMatchObject({
    code: 1,
    findings: [
      { state: 'fail', detail: expect.stringContaining('ECONNREFUSED') as string },
      { state: 'warn', detail: expect.stringContaining('@GeneratedSnowflake()') as string },
    ],
  });
  expect(JSON.stringify(result)).not.toContain(SECRET);
});

it.each<[string, string, string]>([
  ['none.cjs', 'exports.a = 1; exports.b = () => 2;', '--app none.cjs exports no DataSource of TypeORM, no Kysely'],
  ['empty.mjs', '', 'it exports nothing'],
  [
    'throws.mjs',
    `throw new Error('postgres://u:${SECRET}@h/d')`,
    '--app throws.mjs cannot be loaded: postgres://***@h/d',
  ],
  ['rejects.mjs', `export const db = Promise.reject(new Error('later'))`, 'cannot be loaded: later'],
  ['lacks.cjs', `require('no-such-package')`, "cannot be loaded: Cannot find module 'no-such-package'"],
  ['db.ts', 'export const db: number = 1', 'compile it first'],
  ['nowhere.js', '-', '--app nowhere.js: there is no such file'],
])('refuses %s', async (name, text, says) => {
  if (text !== '-') written(name, text);
  const { code, stdout, stderr } = await raindrop(['doctor', '--app', name], { cwd: folder });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(says);
  expect(stderr).not.toContain(SECRET);
});
