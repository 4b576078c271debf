import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { databaseUrl } from '../service/service-process.js';
import {
  databaseKinds,
  testDatabase,
  type DatabaseKind,
  type TestDatabase,
} from '../../support/servers/test-databases.js';
import { using } from './adoption.js';
import { jsonHere, raindropHere } from './cli-in-process.js';
import { compiledMigration } from './compiled-migration.js';
import type { UuidAdoption } from './uuid-adoption.js';
import { isServer } from './uuid-shop.js';

/** One UUID of each version that tells its time, the oldest first, with its text in another order. */
const OF_TIME: Readonly<Record<string, readonly string[]>> = {
  1: [
    'ffffffff-0001-11ee-8000-000000000001',
    '00000000-0002-11ee-8000-000000000002',
    '00000000-0001-11ef-8000-000000000003',
  ],
  6: [
    '1ee00010-0000-6001-8000-000000000002',
    '1ee00020-0000-6000-8000-000000000001',
    '1ef00010-0000-6000-8000-000000000000',
  ],
  7: [
    '01890000-0000-7fff-8000-000000000003',
    '01890000-0001-7000-8000-000000000002',
    '01900000-0000-7000-8000-000000000001',
  ],
};

const TABLES: readonly string[] = [
  'CREATE TABLE plain (id varchar(36) NOT NULL PRIMARY KEY, made timestamp NULL, n int NOT NULL)',
  'CREATE TABLE numbers (id int NOT NULL PRIMARY KEY)',
  'CREATE TABLE loose (id varchar(36) NOT NULL)',
  'CREATE TABLE seen (id varchar(36) NOT NULL PRIMARY KEY)',
  'CREATE VIEW sees AS SELECT id FROM seen',
  'CREATE TABLE checked (id varchar(36) NOT NULL PRIMARY KEY, CONSTRAINT short CHECK (length(id) > 3))',
  'CREATE TABLE kept (id varchar(36) NOT NULL PRIMARY KEY, id_uuid int)',
  'CREATE TABLE below (id varchar(36) NOT NULL PRIMARY KEY, CONSTRAINT f FOREIGN KEY (id) REFERENCES plain (id))',
  'CREATE TABLE parents (id varchar(36) NOT NULL PRIMARY KEY)',
  'CREATE TABLE lefts (id varchar(36) NOT NULL PRIMARY KEY)',
  'CREATE TABLE rights (id varchar(36) NOT NULL PRIMARY KEY)',
  'CREATE TABLE joint (id varchar(36) PRIMARY KEY, CONSTRAINT l FOREIGN KEY (id) REFERENCES lefts (id), ' +
    'CONSTRAINT r FOREIGN KEY (id) REFERENCES rights (id))',
  'CREATE TABLE orphans (n int PRIMARY KEY, o varchar(36), CONSTRAINT h FOREIGN KEY (o) REFERENCES parents (id))',
  'CREATE TABLE filled (id varchar(36) NOT NULL PRIMARY KEY)',
  "CREATE TABLE fills (n int PRIMARY KEY, o varchar(36) DEFAULT 'x', CONSTRAINT g FOREIGN KEY (o) REFERENCES filled (id))",
];

describe.each(databaseKinds.filter(isServer))('raindrop adopt --from uuid on %s', (kind) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await testDatabase(kind);
    await using(database, {}, async (source) => {
      for (const each of [...TABLES, ...watched(kind), ...described(kind), ...known(kind)]) await source.query(each);
      await source.query(`INSERT INTO plain (id, made, n) VALUES ('${randomUUID()}', NULL, 1)`);
    });
  });

  afterAll(() => database.drop());

  const from = (...args: string[]): string[] => [
    'adopt',
    '--url',
    databaseUrl(database.options),
    '--from',
    'uuid',
    ...args,
  ];

  it.each([
    { args: ['plain'], code: 2, says: 'UUIDs of version 4, which do not contain the time of creation' },
    { args: ['plain', '--order-by', 'made'], code: 2, says: 'it is NULL in 1 of 1 rows' },
    { args: ['plain', '--order-by', 'nothing'], code: 2, says: '--order-by nothing' },
    { args: ['plain,loose'], code: 1, says: 'loose.id is not unique by itself' },
    {
      args: ['plain,seen', '--order-by', 'id'],
      code: 1,
      says: 'the view sees prevents new keys for seen.id',
    },
    { args: ['parents,kept'], code: 1, says: 'kept has a column id_uuid already' },
    { args: ['plain,filled,plain'], code: 2, says: '--table names plain twice' },
    { args: ['lefts,rights'], code: 1, says: 'joint.id refers to lefts.id and to rights.id, whose rows get numbers' },
    { args: ['lefts'], code: 1, says: 'joint.id would become bigint, and refers to rights.id as well' },
    {
      args: ['plain,parents', '--order-by', 'n'],
      code: 2,
      says: /^error: --order-by n: it cannot be read .* in parents\. /,
    },
    {
      args: ['plain,parents', '--order-by', 'nothing'],
      code: 2,
      says: /unknown in 2 tables\n {2}- --order-by nothing.* in plain.*\n {2}- .* in parents/,
    },
    { args: ['plain,parents', '--order-by', 'n,id,n'], code: 2, says: '--order-by n,id,n must be one name for all' },
    { args: ['nowhere'], code: 2, says: 'there is no column' },
    { args: ['numbers'], code: 1, says: 'For integer keys omit --from' },
    { args: ['loose'], code: 1, says: 'is not unique by itself' },
    { args: ['seen'], code: 1, says: 'the view sees prevents new keys' },
    { args: ['checked'], code: 1, says: 'short' },
    { args: ['watched'], code: 1, says: 'the trigger watch prevents new keys' },
    { args: ['described'], code: 1, says: 'prevents new keys' },
    { args: ['kept'], code: 1, says: 'has a column id_uuid already' },
    { args: ['below'], code: 1, says: 'below.id refers to plain' },
    { args: ['filled'], code: 1, says: 'the default' },
    {
      args: ['plain', '--order-by', 'n', '--start', '2026-11-21', '--timestamp-bits', '62'],
      code: 2,
      says: '--timestamp-bits 62',
    },
  ])('refuses $args', async ({ args: [table, ...args], code, says }) => {
    const shown = await raindropHere(from('--table', table!, ...args));
    expect(shown).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(matching(says)) as string });
  });

  it('refuses what else the database says depends on the key', async () => {
    if (kind !== 'postgres') return;
    expect(await raindropHere(from('--table', 'known'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'the function public.knows() uses known.id: drop it before the migration',
      ) as string,
    });
  });

  it.each(Object.keys(OF_TIME))('takes the time from UUIDs of version %s', async (version) => {
    const table = `of_time_${version}`;
    await using(database, {}, async (source) => {
      await source.query(`CREATE TABLE ${table} (id varchar(36) NOT NULL PRIMARY KEY)`);
      for (const id of [...OF_TIME[version]!].sort()) await source.query(`INSERT INTO ${table} VALUES ('${id}')`);
    });
    const { result } = await jsonHere<UuidAdoption>(from('--table', table));
    expect(result.keys[0]?.order).toBe(`by the time in the UUIDs, of version ${version}`);
    jest.spyOn(console, 'log').mockImplementation(() => undefined);
    await using(database, {}, async (source) => {
      const runner = source.createQueryRunner();
      for (const { migration } of result.migrations) await new (compiledMigration(migration))().up(runner);
      await runner.release();
      const found = await source.query<{ id_uuid: string }[]>(`SELECT id_uuid FROM ${table} ORDER BY id`);
      expect(found.map((each) => each.id_uuid)).toEqual(OF_TIME[version]);
    });
    jest.restoreAllMocks();
  });

  it('does not swap where rows refer to rows that are not there', async () => {
    const off = kind === 'postgres' ? "SET session_replication_role = 'replica'" : 'SET foreign_key_checks = 0';
    await using(database, {}, async (source) => {
      const runner = source.createQueryRunner();
      await runner.query(off);
      await runner.query(`INSERT INTO orphans VALUES (1, '${randomUUID()}')`);
      await runner.query(off.replace("'replica'", "'origin'").replace(/0$/, '1'));
      await runner.release();
    });
    const { result } = await jsonHere<UuidAdoption>(from('--table', 'parents'));
    const [number, swap] = result.migrations.map(({ migration }) => new (compiledMigration(migration))());
    jest.spyOn(console, 'log').mockImplementation(() => undefined);
    await using(database, {}, async (source) => {
      const runner = source.createQueryRunner();
      await number!.up(runner);
      await expect(swap!.up(runner)).rejects.toThrow('or some refer to rows that are not there: nothing was swapped');
      expect(await runner.query('SELECT id FROM parents')).toEqual([]);
      await runner.release();
    });
    jest.restoreAllMocks();
  });

  it('says so when what it needs was dropped meanwhile, as synchronize: true does', async () => {
    const id = randomUUID();
    await using(database, {}, async (source) => {
      await source.query('CREATE TABLE tidied (id varchar(36) NOT NULL PRIMARY KEY, n int NOT NULL)');
      await source.query(`INSERT INTO tidied VALUES ('${id}', 1)`);
    });
    const { result } = await jsonHere<UuidAdoption>(from('--table', 'tidied', '--order-by', 'id'));
    const [number, swap] = result.migrations.map(({ migration }) => new (compiledMigration(migration))());
    jest.spyOn(console, 'log').mockImplementation(() => undefined);
    await using(database, {}, async (source) => {
      const runner = source.createQueryRunner();
      await number!.up(runner);
      await runner.query('ALTER TABLE tidied DROP COLUMN raindrop_id');
      await expect(swap!.up(runner)).rejects.toThrow(
        'tidied has no column raindrop_id: the first migration has not run',
      );
      await number!.down(runner);
      await number!.up(runner);
      await swap!.up(runner);
      await runner.query('ALTER TABLE tidied DROP COLUMN id_uuid');
      await expect(swap!.down(runner)).rejects.toThrow(
        'tidied has no column id_uuid any more, and its keys are numbers',
      );
      await expect(number!.down(runner)).rejects.toThrow('tidied has no column id_uuid any more');
      await runner.release();
    });
    jest.restoreAllMocks();
  });

  it('keeps the option of a table that MariaDB forgets, there and back', async () => {
    if (kind !== 'mariadb') return;
    await using(database, {}, async (source) => {
      await source.query('CREATE TABLE summed (id varchar(36) NOT NULL PRIMARY KEY, n int NOT NULL) PAGE_CHECKSUM=1');
      await source.query(`INSERT INTO summed VALUES ('${randomUUID()}', 1)`);
    });
    const { result } = await jsonHere<UuidAdoption>(from('--table', 'summed', '--order-by', 'n'));
    const [number, swap] = result.migrations.map(({ migration }) => new (compiledMigration(migration))());
    jest.spyOn(console, 'log').mockImplementation(() => undefined);
    await using(database, {}, async (source) => {
      const runner = source.createQueryRunner();
      const steps = [
        () => number!.up(runner),
        () => swap!.up(runner),
        () => swap!.down(runner),
        () => number!.down(runner),
      ];
      for (const step of steps) {
        await step();
        const [shown] = (await runner.query('SHOW CREATE TABLE summed')) as Record<string, string>[];
        expect(shown!['Create Table']).toContain(' PAGE_CHECKSUM=1');
      }
      await runner.release();
    });
    jest.restoreAllMocks();
  });

  it('refuses an application that lets TypeORM change its tables', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'raindrop-adopt-synchronize-'));
    try {
      mkdirSync(join(folder, 'node_modules'));
      symlinkSync(dirname(require.resolve('typescript/package.json')), join(folder, 'node_modules/typescript'));
      writeFileSync(join(folder, 'tsconfig.json'), '{}');
      writeFileSync(join(folder, 'app.ts'), '\nexport const options = { synchronize: true };\n');
      const args = from('--table', 'plain', '--order-by', 'n', '--project', folder);
      expect(await raindropHere(args)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('app.ts:2 sets synchronize: true') as string,
      });
      writeFileSync(
        join(folder, 'app.ts'),
        `declare class ParseUUIDPipe {}
declare function IsUUID(): PropertyDecorator;
export class Query { @IsUUID() id!: string; }
export const options = { synchronize: false, pipes: [ParseUUIDPipe], root: '${randomUUID()}' };\n`,
      );
      const { code, stderr } = await raindropHere(args);
      expect(code).toBe(0);
      for (const place of [
        'app.ts:3:23 IsUUID',
        'app.ts:4:54 ParseUUIDPipe',
        'app.ts:4:76 ',
        'tokens that contain keys',
      ]) {
        expect(stderr).toContain(place);
      }
      writeFileSync(
        join(folder, 'app.ts'),
        'declare const isProd: boolean;\nexport const options = { synchronize: !isProd };\n',
      );
      expect((await raindropHere(args)).stderr).toContain(
        'set synchronize: false before the first migration: a start would drop the columns that no entity declares\n' +
          'app.ts:2 synchronize: !isProd: this must be false wherever these tables are\n',
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('writes two files, and says when the application may write', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'raindrop-adopt-uuid-'));
    try {
      const file = join(folder, 'adopt.ts');
      const { code, stdout, stderr } = await raindropHere(from('--table', 'plain', '--order-by', 'n', '--write', file));
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${file}\n${join(folder, 'adopt-swap.ts')}\n` });
      expect(stderr).toContain('the application may write while the first one runs; stop it before the second');
      expect(readFileSync(file, 'utf8')).toContain('class NumberPlain');
      expect(existsSync(join(folder, 'adopt-swap.ts'))).toBe(true);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** A text is to be found as it is. */
function matching(says: string | RegExp): RegExp {
  return typeof says === 'string' ? new RegExp(says.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : says;
}

function watched(kind: DatabaseKind): string[] {
  const table = 'CREATE TABLE watched (id varchar(36) NOT NULL PRIMARY KEY)';
  if (kind !== 'postgres') return [table, 'CREATE TRIGGER watch BEFORE UPDATE ON watched FOR EACH ROW SET @a = 1'];
  return [
    table,
    'CREATE FUNCTION watching() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
    'CREATE TRIGGER watch BEFORE UPDATE ON watched FOR EACH ROW EXECUTE FUNCTION watching()',
  ];
}

/** A function that keeps hold of the column itself, whatever its name. */
function known(kind: DatabaseKind): string[] {
  if (kind !== 'postgres') return [];
  return [
    'CREATE TABLE known (id varchar(36) NOT NULL PRIMARY KEY)',
    'CREATE FUNCTION knows() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT MAX(id) FROM known; END',
  ];
}

function described(kind: DatabaseKind): string[] {
  const table = 'CREATE TABLE described (id varchar(36) NOT NULL PRIMARY KEY';
  return kind === 'postgres' ? [`${table})`, "COMMENT ON COLUMN described.id IS 'a'"] : [`${table} COMMENT 'a')`];
}

it('is refused on SQLite, and for what it does not know', async () => {
  const database = await testDatabase('sqlite');
  await using(database, {}, (source) => source.query('CREATE TABLE words (id varchar(36) PRIMARY KEY)'));
  const args = ['adopt', '--url', databaseUrl(database.options), '--table', 'words'];
  expect(await raindropHere([...args, '--from', 'uuid'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('works on MariaDB') as string,
  });
  expect(await raindropHere([...args, '--from', 'words'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('must be number or uuid') as string,
  });
  expect(await raindropHere([...args, '--order-by', 'id'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('requires --from uuid') as string,
  });
  await database.drop();
});
