import { codecs, createLayout, parseId, type LayoutPlan } from '@raindrop/core';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { databaseUrl } from '../demo/demo-process.js';
import { testDatabase, type DatabaseKind, type TestDatabase } from '../servers/test-databases.js';
import { raindrop, raindropJson } from './cli-process.js';

// Every step starts a process.
jest.setTimeout(120_000);

const OPTIONS = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 3, endBitsLength: 1 } as const;
const LAYOUT = ['--start', '2026-01-01', '--timestamp-bits', '33', '--worker-bits', '3', '--end-bits', '1'];
const layout = createLayout(OPTIONS, Date.now());
/** Where something that must stay secret could come out. */
const SECRET = 'hunter2-the-password';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'raindrop-cli-'));
  writeFileSync(join(directory, 'options.json'), JSON.stringify(OPTIONS));
  writeFileSync(join(directory, 'options.cjs'), `module.exports = ${JSON.stringify(OPTIONS)};`);
  writeFileSync(join(directory, 'options.mjs'), `export default ${JSON.stringify(OPTIONS)};`);
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

it.each([
  { from: 'a JSON file', file: 'options.json' },
  { from: 'a CommonJS module', file: 'options.cjs' },
  { from: 'an ES module', file: 'options.mjs' },
])('takes the layout from $from', async ({ file }) => {
  const { code, result } = await raindropJson<LayoutPlan>(['plan', '--config', file], { cwd: directory });
  expect({ code, fingerprint: result.fingerprint }).toEqual({ code: 0, fingerprint: layout.fingerprint });
});

it('has no colours where there is no terminal, and wrong input ends the process with 2', async () => {
  const { code, stdout, stderr } = await raindrop(['decode', '1', 'x', ...LAYOUT]);
  expect(code).toBe(2);
  expect(stdout).toContain('1  2026-01-01');
  expect(stderr).toContain('"x"');
  expect(stdout + stderr).not.toContain('\u001b');
});

describe.each<DatabaseKind>(['sqlite', 'mariadb', 'postgres'])('on %s', (kind) => {
  let database: TestDatabase;
  let environment: Record<string, string>;

  beforeEach(async () => {
    database = await testDatabase(kind);
    environment = { DATABASE_URL: databaseUrl(database.options), RAINDROP_CONFIG: join(directory, 'options.json') };
  });

  afterEach(() => database.drop());

  const run = (...args: string[]): ReturnType<typeof raindrop> => raindrop(args, { environment });
  const json = async <T>(...args: string[]): Promise<T> => (await raindropJson<T>(args, { environment })).result;

  async function execute(...statements: string[]): Promise<void> {
    const dataSource = await new DataSource(database.options).initialize();
    try {
      for (const each of statements) await dataSource.query(each);
    } finally {
      await dataSource.destroy();
    }
  }

  it('init creates what its dry run prints, once', async () => {
    const { statements } = await json<{ statements: string[] }>('init', '--dry-run');
    expect(await run('doctor')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('run raindrop init') as string,
    });
    expect(await json('init')).toEqual({ table: 'soc_raindrop_worker', workers: { min: 1, max: 7 }, rows: 7 });
    const created = await json('workers', '--all');

    await execute('DROP TABLE soc_raindrop_worker', 'DROP TABLE soc_raindrop_worker_layout', ...statements);
    const byHand = await json<{ counts: object }>('workers', '--all');
    expect({ ...byHand, nowMs: 0 }).toEqual({ ...(created as object), nowMs: 0 });
    expect(await run('init')).toMatchObject({ code: 0, stdout: expect.stringContaining('7 rows') as string });
  });

  it('next issues, gives back, and goes on after what it issued', async () => {
    const first = await run('next', '-n', '2500');
    const second = await json<{ workerId: number; ids: string[] }>('next', '-n', '3', '--format', 'base62');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const ids = [...first.stdout.trim().split('\n').map(BigInt), ...second.ids.map(codecs.base62.decode)];
    expect(new Set(ids).size).toBe(2_503);
    expect(second.ids.map((text) => parseId(layout, codecs.base62.decode(text)).workerId)).toEqual(
      Array(3).fill(second.workerId),
    );
    const { counts, workers } = await json<{ counts: object; workers: { holder: string }[] }>('workers');
    expect(counts).toEqual({ held: 0, free: 7, expired: 0, foreign: 0, 'used-up': 0, deleted: 0 });
    expect(workers[0]!.holder).toMatch(/pid \d+$/);
  });

  it('next gives its worker id back when it is interrupted, and shows it while it is held', async () => {
    let seen: Promise<{ counts: { held: number } }> | undefined;
    const { code, stdout, stderr } = await raindrop(['next', '-n', '1000000000'], {
      environment,
      watch: (child) => {
        seen ??= json<{ counts: { held: number } }>('workers').finally(() => child.kill('SIGINT'));
      },
    });
    expect([code, stderr]).toEqual([130, 'ended by SIGINT\n']);
    expect((await seen)!.counts.held).toBe(1);
    const ids = stdout.trim().split('\n');
    expect(new Set(ids).size).toBe(ids.length);
    expect((await json<{ counts: { held: number } }>('workers')).counts.held).toBe(0);
  });

  it('fence asks first, and bars the rows then', async () => {
    await run('next');
    expect(await run('fence')).toMatchObject({ code: 2, stderr: expect.stringContaining('all 7 rows') as string });
    expect((await json<{ counts: { 'used-up': number } }>('workers')).counts['used-up']).toBe(0);
    expect(await json('fence', '--yes')).toEqual({ table: 'soc_raindrop_worker', rows: 7, barredMs: 95_000 });
    expect((await json<{ counts: { 'used-up': number } }>('workers')).counts['used-up']).toBe(7);
    expect(await run('next')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No free worker id') as string,
    });
    expect(await run('doctor')).toMatchObject({ code: 1, stdout: expect.stringContaining('0 to be had') as string });
  });

  it('doctor finds what is wrong', async () => {
    await run('next');
    const stateOf = async (check: string, ...args: string[]): Promise<string | undefined> => {
      const { findings } = await json<{ findings: { check: string; state: string }[] }>('doctor', ...args);
      return findings.find((each) => each.check === check)?.state;
    };
    expect(await stateOf('rights')).toBe('ok');
    expect(await stateOf('other layouts', '--timestamp-bits', '34')).toBe('warn');
    expect(await stateOf('other layouts', '--timestamp-bits', '34', '--end-value', '1')).toBe('ok');
    await execute('DELETE FROM soc_raindrop_worker WHERE id = 3');
    expect(await stateOf('rows')).toBe('warn');
    await execute(`UPDATE soc_raindrop_worker SET code = 'go', version = version + 1 WHERE id = 4`);
    expect(await stateOf('unusable rows')).toBe('warn');
    await execute(`UPDATE soc_raindrop_worker SET lane = 7 WHERE id = 4`);
    expect(await stateOf('database')).toBe('fail');
  });
});

it('bench measures without a database', async () => {
  const { code, result } = await raindropJson<{ results: { idsPerSecond: number }[] }>(['bench', '--seconds', '0.4']);
  expect(code).toBe(0);
  expect(result.results).toHaveLength(2);
  for (const { idsPerSecond } of result.results) expect(idsPerSecond).toBeGreaterThan(10_000);
});

it('a reader that has seen enough is no error', async () => {
  const { code, stderr } = await raindrop(['next', '-n', '100000000', ...LAYOUT], {
    environment: { DATABASE_URL: `sqlite:${join(directory, 'enough.sqlite')}` },
    watch: (child) => child.stdout?.destroy(),
  });
  expect([code, stderr]).toEqual([0, '']);
});

it('a password stays out of what is printed, whatever fails', async () => {
  const mysql = `mysql://root:${SECRET}@127.0.0.1:1/d`;
  const postgres = `postgres://postgres:${SECRET}@127.0.0.1:1/d`;
  const adopt = ['adopt', '--table', 't'];
  for (const [url, args] of [
    [mysql, ['next']],
    [mysql, ['doctor']],
    [postgres, ['workers']],
    [postgres, adopt],
  ] as const) {
    const { code, stdout, stderr } = await raindrop([...args, ...LAYOUT, '--url', url]);
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain(SECRET);
  }
});
