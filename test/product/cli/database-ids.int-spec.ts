import { DataSource } from 'typeorm';
import { createLayout, parseId } from '@raindrop/core';
import { databaseUrl } from '../service/service-process.js';
import { readDocument } from '../../published/docs/typescript-blocks.js';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { jsonHere, raindropHere } from './cli-in-process.js';
import type { CliResult } from './cli-process.js';

const LAYOUT = ['--start', '2026-01-01', '--timestamp-bits', '33', '--worker-bits', '3', '--end-bits', '1'];
const layout = createLayout(
  { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 3, endBitsLength: 1 },
  Date.now(),
);

interface Printed {
  readonly function: string;
  readonly workerId: number;
  readonly statements: readonly string[];
  readonly notes: readonly string[];
}

interface Workers {
  readonly counts: Readonly<Record<string, number>>;
  readonly workers: readonly { readonly workerId: number; readonly state: string; readonly holder: string }[];
}

describe('raindrop sql --issue', () => {
  let database: TestDatabase;
  let admin: DataSource;
  let url: string;

  beforeEach(async () => {
    database = await testDatabase('postgres');
    admin = await new DataSource(database.options).initialize();
    url = databaseUrl(database.options);
  });

  afterEach(async () => {
    await admin.destroy();
    await database.drop();
  });

  const run = (...args: string[]): Promise<CliResult> => raindropHere([...args, '--url', url]);
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, result } = await jsonHere<T>([...args, '--url', url]);
    expect(code).toBe(0);
    return result;
  };
  const issue = (...args: string[]): Promise<Printed> => json('sql', '--issue', ...args);
  const install = async (...args: string[]): Promise<Printed> => {
    const printed = await issue(...args);
    for (const each of printed.statements) await admin.query(each);
    return printed;
  };
  const idOf = async (call: string): Promise<bigint> => {
    const [row] = await admin.query<{ id: string }[]>(`SELECT ${call}::text AS id`);
    return BigInt(row!.id);
  };

  it('prints the function and the default, which fill rows that no process inserts', async () => {
    await run('init', ...LAYOUT);
    const printed = await install(...LAYOUT);
    expect(printed).toMatchObject({ database: 'postgres', function: 'raindrop_id()', workerId: 7 });
    const [use] = printed.notes.filter((note) => note.startsWith('ALTER TABLE'));
    expect(use).toBe('ALTER TABLE orders ALTER COLUMN id SET DEFAULT raindrop_id()');
    await admin.query('CREATE TABLE orders (id bigint PRIMARY KEY, n int)');
    await admin.query(use!);
    await admin.query('INSERT INTO orders (n) SELECT generate_series(1, 3)');
    const rows = await admin.query<{ id: string }[]>('SELECT id FROM orders');
    expect(rows.map(({ id }) => parseId(layout, id).workerId)).toEqual([7, 7, 7]);
  });

  it('is used by the lines that the document shows', async () => {
    const shown = readDocument('docs/sql.md#ids-that-postgresql-makes-itself');
    const [, command] = /```sh\nraindrop (.*) > issue\.sql\n```/.exec(shown)!;
    const [, lines] = /```sql\n([\s\S]*?)```/.exec(shown)!;
    await run('init');
    const { code, stdout } = await raindropHere(command!.split(' '));
    expect(code).toBe(0);
    await admin.query(stdout);
    await admin.query(lines!);
    const rows = await admin.query<{ id: string }[]>('SELECT id FROM orders');
    const bits = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };
    const standard = createLayout(bits, Date.now());
    expect(rows.map(({ id }) => parseId(standard, id).workerId)).toEqual([1_023, 1_023]);
  });

  it('prints it to paste: statements, and all else as comments', async () => {
    await run('init', ...LAYOUT);
    const { code, stdout } = await run('sql', '--issue', ...LAYOUT);
    expect(code).toBe(0);
    await admin.query(stdout);
    expect(stdout).toMatch(/^-- Layout 1000@1767225600:t33\.w3\.b1\.s25\.e1=0; worker 7 of soc_raindrop_worker\nDO \$/);
    expect(stdout).toContain('-- ALTER TABLE orders ALTER COLUMN id SET DEFAULT raindrop_id();\n');
    expect(parseId(layout, await idOf('raindrop_id()')).workerId).toBe(7);
  });

  it('without a layout it is that of the worker table', async () => {
    await run('next', '--layout', 'number');
    const { workerId } = await install();
    expect(workerId).toBe(255);
    expect(await idOf('raindrop_id()')).toBeLessThan(2n ** 53n);
    expect((await run('next')).code).toBe(0);
  });

  it('takes the highest worker id that was never used, else one that is free', async () => {
    await run('init', ...LAYOUT);
    const use = (id: number): Promise<unknown> =>
      run('next', ...LAYOUT, '--min-worker', String(id), '--max-worker', String(id));
    for (const id of [7, 6]) await use(id);
    expect((await issue(...LAYOUT)).workerId).toBe(5);
    for (const id of [1, 2, 3, 4, 5]) await use(id);
    expect((await issue(...LAYOUT)).workerId).toBe(7);
    expect((await issue(...LAYOUT, '--max-worker', '4')).workerId).toBe(4);
    await admin.query('UPDATE soc_raindrop_worker SET del_flag = 1');
    const none = await run('sql', '--issue', ...LAYOUT);
    expect(none).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no worker id from 1 to 7 is free') as string,
    });
    expect(none.stderr).toContain('--worker');
  });

  it('leaves services at least one worker id', async () => {
    await run('init', ...LAYOUT);
    const only = ['--min-worker', '3', '--max-worker', '3'];
    expect(await run('sql', '--issue', ...LAYOUT, ...only)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('worker 3 is the only one of the range') as string,
    });
    expect((await issue(...LAYOUT, ...only, '--worker', '4')).workerId).toBe(4);
    await install(...LAYOUT, '--min-worker', '2', '--max-worker', '3');
    expect((await run('next', ...LAYOUT, '--min-worker', '2', '--max-worker', '3')).code).toBe(0);
  });

  it('renews the function that is there, with its own worker id: by its name, also where a schema is part of it', async () => {
    await admin.query('CREATE SCHEMA shop');
    await run('init', ...LAYOUT);
    await install(...LAYOUT);
    await install(...LAYOUT, '--name', 'shop.next_id');
    const again = [await install(...LAYOUT), await install(...LAYOUT, '--name', 'next_id')];
    expect(again.map((each) => [each.function, each.workerId])).toEqual([
      ['public.raindrop_id()', 7],
      ['shop.next_id()', 6],
    ]);
    expect((await json<Workers>('workers', ...LAYOUT)).counts).toMatchObject({ database: 2 });
    expect(parseId(layout, await idOf('shop.next_id()')).workerId).toBe(6);
    await install(...LAYOUT, '--name', 'shop.raindrop_id');
    expect(await run('sql', '--issue', ...LAYOUT)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('public.raindrop_id, shop.raindrop_id') as string,
    });
  });

  it('names worker table, worker, function and roles by flags and variables, and schema by the URL', async () => {
    await admin.query('CREATE SCHEMA shop');
    const inShop = `${url}?schema=shop`;
    expect((await raindropHere(['init', ...LAYOUT, '--url', inShop, '--table', 'ids_worker'])).code).toBe(0);
    const flags = ['--table', 'ids_worker', '--worker', '3', '--grant', 'public', '--grant', 'pg_monitor'];
    const { code, result } = await jsonHere<Printed>(['sql', '--issue', ...LAYOUT, '--url', inShop, ...flags]);
    expect([code, result]).toMatchObject([0, { function: 'shop.raindrop_id()', workerId: 3 }]);
    await admin.query(result.statements[0]!);
    expect(parseId(layout, await idOf('shop.raindrop_id()')).workerId).toBe(3);
    const [may] = await admin.query<unknown[]>(
      `SELECT has_function_privilege('pg_monitor', 'shop.raindrop_id()', 'EXECUTE') AS call,
         has_sequence_privilege('pg_monitor', 'shop.raindrop_id_position', 'USAGE') AS draw`,
    );
    expect(may).toEqual({ call: true, draw: true });
    process.env['RAINDROP_TABLE'] = 'ids_worker';
    try {
      const again = await jsonHere<Printed>(['sql', '--issue', ...LAYOUT, '--url', inShop]);
      expect(again.result.workerId).toBe(3);
    } finally {
      delete process.env['RAINDROP_TABLE'];
    }
  });

  it('needs a worker table at the URL', async () => {
    for (const flags of [LAYOUT, []]) {
      expect(await run('sql', '--issue', ...flags)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('run raindrop init') as string,
      });
    }
  });

  it('is run by init after it has made the worker table, also twice', async () => {
    const flags = ['init', '--database-ids', ...LAYOUT];
    const dry = await json<{ statements: string[] }>(...flags, '--dry-run');
    expect(dry.statements.at(-1)).toMatch(/^DO \$/);
    const said = await run(...flags);
    expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining('7 rows for workers 1 to 7\n') as string });
    expect(said.stdout).toContain(
      'raindrop_id() issues IDs of worker 7: ALTER TABLE orders ALTER COLUMN id SET DEFAULT raindrop_id()',
    );
    expect(parseId(layout, await idOf('raindrop_id()')).workerId).toBe(7);
    const before = await idOf('raindrop_id()');
    expect(await json(...flags, '--grant', 'public')).toEqual({
      table: 'soc_raindrop_worker',
      workers: { min: 1, max: 7 },
      // Those that processes can have.
      rows: 6,
      databaseIds: { function: 'public.raindrop_id()', workerId: 7 },
    });
    expect(await idOf('raindrop_id()')).toBeGreaterThan(before);
    expect((await json<Workers>('workers', ...LAYOUT)).counts).toMatchObject({ database: 1 });
  });

  it('is run by init with the layout that the table remembers', async () => {
    await run('next', '--layout', 'number');
    expect(await json('init', '--database-ids')).toMatchObject({ databaseIds: { workerId: 255 } });
    expect(await idOf('raindrop_id()')).toBeLessThan(2n ** 53n);
  });

  it('is installed where the server begins transactions at another isolation level', async () => {
    await admin.query(
      `ALTER DATABASE "${database.options.database as string}" SET default_transaction_isolation TO serializable`,
    );
    expect(await json('init', '--database-ids', ...LAYOUT)).toMatchObject({ databaseIds: { workerId: 7 } });
    expect(parseId(layout, await idOf('raindrop_id()')).workerId).toBe(7);
  });

  it('is refused by init before it has made a table', async () => {
    expect(await run('init', '--database-ids', '--name', 'a-b', ...LAYOUT)).toMatchObject({ code: 2, stdout: '' });
    expect(await run('workers')).toMatchObject({ stderr: expect.stringContaining('run raindrop init') as string });
  });

  it('says what the database refuses, and what to do', async () => {
    await run('init', ...LAYOUT);
    await admin.query('UPDATE soc_raindrop_worker SET del_flag = 1 WHERE id = 4');
    expect(await run('init', '--database-ids', '--worker', '4', ...LAYOUT)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/worker 4 is marked deleted.*Give another worker id: --worker.*RD002/) as string,
    });
  });
});

describe('raindrop sql --issue, without a database,', () => {
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await raindropHere(args);
    expect([code, stdout]).toEqual([2, '']);
    return stderr;
  };
  const issue = (...args: string[]): Promise<string> => refused('sql', '--issue', ...args);

  it('prints what the flags say: by default the highest worker id of the default layout', async () => {
    const { result } = await jsonHere<Printed>(['sql', '--issue', '--db', 'postgres', '--name', 'shop.nextId']);
    expect(result).toMatchObject({ function: 'shop."nextId"()', workerId: 1_023 });
    expect(result.statements).toHaveLength(1);
  });

  it.each(['mysql', 'mariadb', 'sqlite'])('says why there is none on %s', async (db) => {
    const said = await issue('--db', db);
    expect(said).toContain('--issue: only PostgreSQL makes IDs itself');
    expect(said).toContain(db === 'sqlite' ? 'SQLite has no functions in SQL' : 'literals');
  });

  it('init says it before it changes anything', async () => {
    const said = await refused('init', '--database-ids', '--url', 'sqlite:/no/such/folder/shop.sqlite');
    expect(said).toContain('--database-ids: only PostgreSQL makes IDs itself');
  });

  it.each([
    [['--column', 'key'], "option '--issue' cannot be used with option '--column <name>'"],
    [['--partitions', 'month', '--ahead', '3'], "option '--issue' cannot be used with option '--partitions <period>'"],
    [['--keep', 'all'], "option '--issue' cannot be used with option '--keep <count>'"],
    [['--worker', 'x'], '--worker x: must be an integer from 0 to 1023'],
    [['--worker', '1024'], '--worker 1024: must be an integer from 0 to 1023'],
    [['--name', 'a-b'], "--name a-b: must be 'function' or 'schema.function'"],
    [['--grant', ''], '--grant must be a role, such as app'],
  ])('refuses %j', async (flags, message) => {
    expect(await issue('--db', 'postgres', ...flags)).toContain(message);
  });

  it.each([
    [['sql', '--db', 'postgres', '--worker', '3'], '--worker is for --issue'],
    [['sql', '--db', 'postgres', '--grant', 'app'], '--grant is for --issue'],
    [['init', '--name', 'next_id'], '--name is for --database-ids'],
    [
      ['init', '--database-ids', '--project'],
      "option '--database-ids' cannot be used with option '--project [folder]'",
    ],
    [['sql', '--issue'], 'which database? Give --db: postgres'],
  ])('refuses %j', async (args, message) => {
    expect(await refused(...args)).toContain(message);
  });
});
