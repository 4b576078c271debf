import { codecs, createLayout, parseId } from '@raindrop/core';
import { initRedisWorkers } from '@raindrop/node/redis';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { DataSource } from 'typeorm';
import { databaseUrl } from '../service/service-process.js';
import { serverUrl } from '../../support/servers/server-url.js';
import { databaseKinds, kindsOfTier, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { until } from '../../support/until.js';
import { jsonHere, raindropHere, runCli } from './cli-in-process.js';
import type { CliResult } from './cli-process.js';

const OPTIONS = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 3, endBitsLength: 1 } as const;
const LAYOUT = ['--start', '2026-01-01', '--timestamp-bits', '33', '--worker-bits', '3', '--end-bits', '1'];
const layout = createLayout(OPTIONS, Date.now());

interface Findings {
  readonly state: string;
  readonly findings: readonly { readonly check: string; readonly state: string; readonly detail: string }[];
}

/** Of PostgreSQL's row level security. */
function policy(table: string, command: string, user: string): string {
  const using = command === 'INSERT' ? '' : 'USING (true)';
  const withCheck = command === 'SELECT' ? '' : 'WITH CHECK (true)';
  return `CREATE POLICY may_${command} ON ${table} FOR ${command} TO ${user} ${using} ${withCheck}`;
}

describe.each(databaseKinds)('on %s', (kind) => {
  let database: TestDatabase;
  let url: string;

  beforeEach(async () => {
    database = await testDatabase(kind);
    url = databaseUrl(database.options);
  });

  afterEach(() => database.drop());

  // Of a flag that is given twice the last one counts, but of doctor's --url.
  const withTarget = ([command, ...args]: readonly string[]): string[] => {
    return [command!, ...LAYOUT, ...(args.includes('--url') ? [] : ['--url', url]), ...args];
  };
  const run = (...args: string[]): Promise<CliResult> => raindropHere(withTarget(args));
  const json = async <T>(...args: string[]): Promise<T> => (await jsonHere<T>(withTarget(args))).result;

  async function execute(...statements: string[]): Promise<void> {
    const dataSource = await new DataSource(database.options).initialize();
    try {
      for (const each of statements) await dataSource.query(each);
    } finally {
      await dataSource.destroy();
    }
  }

  async function everyRow(): Promise<unknown[]> {
    const dataSource = await new DataSource(database.options).initialize();
    const tables = ['soc_raindrop_worker_layout', 'soc_raindrop_worker_state', 'soc_raindrop_worker'];
    const all = [];
    for (const table of tables) all.push(await dataSource.query<unknown[]>(`SELECT * FROM ${table} ORDER BY 1`));
    await dataSource.destroy();
    return all;
  }

  async function stateOf(check: string, ...args: string[]): Promise<string | undefined> {
    const { findings } = await json<Findings>('doctor', ...args);
    return findings.find((each) => each.check === check)?.state;
  }

  it('names the URL that the database refuses as it was given: by flag, variable or file', async () => {
    if (kind === 'sqlite') return;
    const wrong = Object.assign(new URL(url), { pathname: '/no_such_shop' }).href;
    const file = join(tmpdir(), `raindrop-url-${randomUUID()}.json`);
    writeFileSync(file, JSON.stringify({ dbConfig: wrong }));
    const refused = async (...args: string[]): Promise<string[]> => {
      const [workers, doctor] = [await raindropHere(['workers', ...args]), await raindropHere(['doctor', ...args])];
      expect([workers.code, doctor.code]).toEqual([1, 1]);
      return [workers.stderr, doctor.stdout.split('\n')[0]!];
    };
    for (const each of await refused('--url', wrong)) {
      expect(each).toContain(' --url ');
      expect(each).not.toContain('dbConfig');
    }
    process.env['DATABASE_URL'] = wrong;
    for (const each of await refused()) expect(each).toContain(' DATABASE_URL ');
    delete process.env['DATABASE_URL'];
    for (const each of await refused('--config', file)) expect(each).toContain(' dbConfig ');
    rmSync(file);
  });

  // Where the engine computes, or time passes.
  const isOfTier = kindsOfTier.includes(kind);

  if (isOfTier) {
    it('bench leaves the table alone, whose layout stays that of the service', async () => {
      const named = ['--url', url, '--json'];
      const next = (): Promise<CliResult> => raindropHere(['next', ...named]);
      await raindropHere(['init', ...named]);
      const before = await next();
      const found = await everyRow();
      const bench = await jsonHere<{ fingerprint: string }>(['bench', '--seconds', '0.1', '--url', url]);
      expect([before.code, bench.code]).toEqual([0, 0]);
      expect(bench.result.fingerprint).toBe('1000@1767225600:t33.w10.b1.s18.e1=0');
      // Of a table with another layout, that one.
      await raindropHere(['next', ...named, '--layout', 'number', '--table', 'numbers']);
      const ofNumbers = await jsonHere<{ fingerprint: string }>([
        'bench',
        '--seconds',
        '0.1',
        '--url',
        url,
        '--table',
        'numbers',
      ]);
      expect(ofNumbers.result.fingerprint).toBe('1000@1767225600:t30.w8.b1.s13.e1=0');
      expect(await everyRow()).toEqual(found);
      expect((await next()).code).toBe(0);
    });
  }

  it('doctor leaves everything as it was, of a start that it tries', async () => {
    for (const prepare of ['init', 'next', 'fence']) {
      await run(prepare, ...(prepare === 'fence' ? ['--yes'] : []));
      // A start would add this one.
      await execute('DELETE FROM soc_raindrop_worker WHERE id = 3');
      const before = await everyRow();
      expect(await stateOf('rights')).toBe('ok');
      expect(await stateOf('rows')).toBe('warn');
      expect(await everyRow()).toEqual(before);
    }
  });

  if (isOfTier) {
    it('bench makes no table', async () => {
      expect((await raindropHere(['bench', '--seconds', '0.1', '--url', url])).code).toBe(0);
      expect((await run('workers')).code).toBe(1);
    });
  }

  it('init creates what its dry run prints, once', async () => {
    const { statements } = await json<{ statements: string[] }>('init', '--dry-run');
    const missing = { code: 1, stdout: expect.stringContaining('run raindrop init') as string };
    expect(await run('doctor')).toMatchObject(missing);
    expect(await run('fence', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('run raindrop init') as string,
    });
    expect(await json('init')).toEqual({ table: 'soc_raindrop_worker', workers: { min: 1, max: 7 }, rows: 7 });
    const created = await json('workers', '--all');

    const tables = ['soc_raindrop_worker', 'soc_raindrop_worker_layout', 'soc_raindrop_worker_state'];
    await execute(...tables.map((each) => `DROP TABLE ${each}`), ...statements);
    const byHand = await json<{ counts: object }>('workers', '--all');
    expect({ ...byHand, nowMs: 0 }).toEqual({ ...(created as object), nowMs: 0 });
    expect(await run('init')).toMatchObject({ code: 0, stdout: expect.stringContaining('7 rows') as string });
    // A wider range keeps what is there.
    await run('next');
    expect(await json('init', '--max-worker', '7', '--min-worker', '0')).toMatchObject({ rows: 8 });
    expect(await json('workers')).toMatchObject({ workers: [{ state: 'free' }] });
  });

  it('without a layout take the one that the table remembers, and say what keeps a start from it', async () => {
    const unnamed = <T>(command: string, ...args: string[]): Promise<T> =>
      jsonHere<T>([command, '--url', url, ...args]).then(({ result }) => result);
    const numbers = await unnamed<{ ids: string[] }>('next', '--layout', 'number', '-n', '2');
    const more = await unnamed<{ ids: string[] }>('next', '-n', '2');
    const ids = [...numbers.ids, ...more.ids].map(Number);
    expect([new Set(ids).size, ids.every((id) => Number.isSafeInteger(id))]).toEqual([4, true]);
    expect(await unnamed('init')).toMatchObject({ workers: { min: 1, max: 255 }, rows: 255 });
    const found = async (): Promise<string[]> =>
      (await unnamed<Findings>('doctor')).findings.map(({ check, state, detail }) => `${state} ${check} ${detail}`);
    expect(await found()).toContainEqual(expect.stringMatching(/^ok layout life .* until 2060-01-10/));
    await unnamed('next', '--layout', 'number', '--end-value', '1');
    expect(await found()).toContainEqual(
      expect.stringMatching(/^fail layout The options name no layout, and .* 2 layouts/),
    );
    const refused = await raindropHere(['next', '--url', url]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('that may still be in use') as string });
  });

  it("init leaves somebody else's table alone", async () => {
    await execute('CREATE TABLE soc_raindrop_worker (id integer NOT NULL PRIMARY KEY, title varchar(20))');
    for (const command of ['init', 'next']) {
      const { code, stdout, stderr } = await run(command, '--json');
      expect([code, stdout]).toEqual([1, '']);
      const last = stderr.trim().split('\n').at(-1)!;
      expect(JSON.parse(last)).toMatchObject({
        error: { message: expect.stringContaining('is not a worker table') as string },
      });
    }
  });

  it('next issues, gives back, and goes on after what it issued, four at a time', async () => {
    await run('init');
    const first = await run('next', '-n', '2500');
    const second = await json<{ workerId: number; ids: string[] }>('next', '-n', '3', '--format', 'base62');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const together = await Promise.all([1, 2, 3, 4].map(() => json<{ ids: string[] }>('next', '-n', '1500')));
    const ids = [
      ...first.stdout.trim().split('\n').map(BigInt),
      ...second.ids.map(codecs.base62.decode),
      ...together.flatMap((each) => each.ids.map(BigInt)),
    ];
    expect([ids.length, new Set(ids).size]).toEqual([8_503, 8_503]);
    expect(second.ids.map((text) => parseId(layout, codecs.base62.decode(text)).workerId)).toEqual(
      Array(3).fill(second.workerId),
    );
    const { counts, workers } = await json<{ counts: object; workers: { holder: string }[] }>('workers');
    expect(counts).toEqual({ held: 0, free: 7, expired: 0, foreign: 0, 'used-up': 0, deleted: 0, database: 0 });
    expect(workers[0]!.holder).toMatch(/pid \d+$/);
  });

  it('fence asks first, and bars the rows then', async () => {
    await run('next');
    expect(await run('fence')).toMatchObject({ code: 2, stderr: expect.stringContaining('all 7 rows') as string });
    expect((await json<{ counts: { 'used-up': number } }>('workers')).counts['used-up']).toBe(0);
    const { barredMs, nowMs, hostNowMs, ...fence } = await json<{
      barredMs: number;
      nowMs: number;
      hostNowMs: number;
    }>('fence', '--yes');
    expect(Math.abs(hostNowMs - nowMs)).toBeLessThan(30_000);
    expect(fence).toEqual({ table: 'soc_raindrop_worker', rows: 7, foreign: 0 });
    // As long as a failover does, where there are servers that can take each other's place.
    const usualMs = kind === 'sqlite' ? 155_000 : 218_000;
    expect(barredMs).toBeGreaterThan(usualMs - 10_000);
    expect(barredMs).toBeLessThanOrEqual(usualMs);
    expect((await json<{ counts: { 'used-up': number } }>('workers')).counts['used-up']).toBe(7);
    expect(await run('doctor')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('0 can be acquired') as string,
    });
  });

  it('doctor knows the consent to other programs, and in which zone they write', async () => {
    await run('next');
    await execute(`UPDATE soc_raindrop_worker SET code = 'go', version = version + 1 WHERE id = 4`);
    await execute('DELETE FROM soc_raindrop_worker WHERE id = 7');
    const directory = mkdtempSync(join(tmpdir(), 'raindrop-cli-shared-'));
    const withOptions = (options: object): string[] => {
      // A file is read once in a process.
      const file = join(directory, `options-${randomUUID()}.json`);
      writeFileSync(file, JSON.stringify(options));
      return ['--config', file];
    };
    try {
      expect(await stateOf('other programs', ...withOptions({ adoptForeign: true }))).toBe('ok');
      const shared = { sharedWithOriginal: true, foreignTimeZone: '+00:00' };
      expect(await stateOf('other programs', ...withOptions(shared))).toBe('ok');
      expect(await stateOf('rows', ...withOptions(shared))).toBe('ok');
      const elsewhere = withOptions({ ...shared, foreignTimeZone: '+08:00' });
      const hasZone = kind === 'mariadb' || kind === 'mysql';
      expect(await stateOf('other programs', ...elsewhere)).toBe(hasZone ? 'fail' : 'ok');
      const { code, stderr } = await run('next', ...elsewhere);
      expect({ code, isZone: stderr.includes("Set foreignTimeZone: '+00:00'") }).toEqual({
        code: hasZone ? 1 : 0,
        isZone: hasZone,
      });
      // A shared table gets no rows.
      expect(await json('init', ...withOptions(shared))).toMatchObject({ rows: 6 });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('doctor finds what is wrong', async () => {
    await run('next');
    expect(await stateOf('rights')).toBe('ok');
    await execute('DELETE FROM soc_raindrop_worker WHERE id = 3');
    expect(await stateOf('rows')).toBe('warn');
    await execute(`UPDATE soc_raindrop_worker SET code = 'go', version = version + 1 WHERE id = 4`);
    expect(await stateOf('unusable rows')).toBe('warn');
    expect(await stateOf('other programs')).toBe('fail');
    expect(await run('init')).toMatchObject({ code: 1, stderr: expect.stringContaining('adoptForeign') as string });
    expect((await json<{ counts: object }>('workers')).counts).toMatchObject({ foreign: 1 });
    expect(await run('fence')).toMatchObject({
      stderr: expect.stringMatching(/all 5 rows .* 1 rows may belong to programs other than Raindrop/) as string,
    });
    await execute(`UPDATE soc_raindrop_worker SET own_version = version WHERE id = 4`);
    expect(await stateOf('other programs')).toBe('ok');
    // 31 bits of seconds are 68 years.
    expect(await stateOf('layout life', '--timestamp-bits', '31', '--start', '1957-01-01')).toBe('fail');
    const now = Date.now;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 31_000);
    expect(await stateOf('clock')).toBe('fail');
    clock.mockImplementation(() => now() - 5_000);
    expect(await stateOf('clock')).toBe('warn');
    clock.mockRestore();
    await execute(`UPDATE soc_raindrop_worker SET lane = 7 WHERE id = 4`);
    expect(await stateOf('database')).toBe('fail');
  });

  if (isOfTier) {
    it.each([
      { what: 'smaller IDs', flags: ['--timestamp-bits', '34'], state: 'fail', code: 1 },
      { what: 'larger IDs', flags: ['--timestamp-bits', '32'], state: 'ok', code: 0 },
      { what: 'other end bits', flags: ['--timestamp-bits', '34', '--end-value', '1'], state: 'ok', code: 0 },
    ])(
      'doctor says of a layout that was changed, to $what, what a start makes of it',
      async ({ flags, state, code }) => {
        await run('next');
        // In the very second of the last ID of the old layout, a start would wait for the next.
        const over = (Math.floor(Date.now() / 1_000) + 1) * 1_000;
        await until('the second is over', () => Date.now() >= over);
        expect(await stateOf('other layouts', ...flags)).toBe(state);
        const started = await run('next', ...flags);
        expect([started.code, started.stderr.includes('could repeat IDs')]).toEqual([code, code !== 0]);
      },
    );
  }

  if (isOfTier) {
    it('workers --watch shows them again and again', async () => {
      await run('next');
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const shown: string[] = [];
      // The second time its reader goes.
      stdout.on('data', (chunk: Buffer) => {
        if (shown.push(chunk.toString()) === 2) stdout.destroy(Object.assign(new Error('gone'), { code: 'EPIPE' }));
      });
      const args = ['workers', '--url', url, '--watch', '1'];
      expect(await runCli(args, { stdout, stderr: stderr.resume() })).toBe(0);
      expect(shown).toEqual([expect.stringContaining('7 free'), expect.stringContaining('7 free')]);
    });
  }

  if (kind === 'sqlite') return;

  it('doctor says which rights are missing', async () => {
    await run('next');
    const { database: home } = database.options as { database: string };
    const user = `rd_${home.slice(-12)}`;
    // It is taken as it is, and stays secret.
    const secret = 'p@ss:w/o#r?d %&';
    const target = new URL(url);
    target.username = user;
    target.password = encodeURIComponent(secret);
    const isPostgres = kind === 'postgres';
    const who = isPostgres ? user : `${user}@'%'`;
    const tables = ['soc_raindrop_worker', 'soc_raindrop_worker_layout', 'soc_raindrop_worker_state'];
    const grant = (right: string): string[] => tables.map((each) => `GRANT ${right} ON ${each} TO ${who}`);
    await execute(
      isPostgres ? `CREATE ROLE ${user} LOGIN PASSWORD '${secret}'` : `CREATE USER ${who} IDENTIFIED BY '${secret}'`,
    );
    try {
      const outcomes: unknown[] = [];
      for (const right of ['SELECT', 'UPDATE', 'INSERT']) {
        const before = await run('doctor', '--url', target.href);
        expect(before.stdout + before.stderr).not.toContain('w/o#');
        outcomes.push(before.code === 1 && /may|grant|denied|Check user/i.test(before.stdout));
        await execute(...grant(right));
      }
      expect(outcomes).toEqual([true, true, true]);
      expect(await stateOf('rights', '--url', target.href)).toBe('ok');
      // Without it no start would get past the next failover.
      const state = 'soc_raindrop_worker_state';
      await execute(`REVOKE UPDATE ON ${state} FROM ${who}`);
      expect(await stateOf('rights', '--url', target.href)).toBe('fail');
      await execute(`GRANT UPDATE ON ${state} TO ${who}`);
      // Issuing needs no more than that.
      expect(await run('next', '--url', target.href)).toMatchObject({ code: 0, stderr: '' });
      if (!isPostgres) return;

      // Without a policy a SELECT finds no row, an UPDATE changes none, and an INSERT is refused.
      const before = await everyRow();
      for (const table of tables) {
        await execute(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`);
        for (const commands of [[], ['SELECT'], ['SELECT', 'INSERT'], ['INSERT', 'UPDATE']]) {
          await execute(...commands.map((each) => policy(table, each, user)));
          const { findings } = await json<Findings>('doctor', '--url', target.href);
          const rights = findings.find(({ check }) => check === 'rights');
          // A start only adds a layout: it never changes one.
          const isEnough = table.endsWith('_layout') && commands.join() === 'SELECT,INSERT';
          expect([table, commands, rights?.state]).toEqual([table, commands, isEnough ? 'ok' : 'fail']);
          if (!isEnough) expect(rights!.detail).toContain(table);
          // No advice to make rows that are there, and hidden.
          expect(JSON.stringify(findings)).not.toContain('raindrop init');
          await execute(...commands.map((each) => `DROP POLICY may_${each} ON ${table}`));
        }
        await execute(policy(table, 'ALL', user));
        expect(await stateOf('rights', '--url', target.href)).toBe('ok');
      }
      expect(await everyRow()).toEqual(before);
      // The worker table last: a start that sees none of its rows records that they are lost.
      for (const table of [...tables].reverse()) {
        await execute(`DROP POLICY may_ALL ON ${table}`);
        expect(await run('next', '--url', target.href)).toMatchObject({
          code: 1,
          stderr: expect.stringContaining(table) as string,
        });
        await execute(policy(table, 'ALL', user));
      }
    } finally {
      await execute(...(isPostgres ? [`DROP OWNED BY ${user}`, `DROP ROLE ${user}`] : [`DROP USER ${who}`]));
    }
  });
});

it('next, workers and fence know worker ids that are kept in Redis', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-cli-redis-'));
  const target = { connection: serverUrl('redis'), key: `raindrop-test-${randomUUID()}` };
  const file = join(directory, 'options.cjs');
  const redis = join(__dirname, '../../../libs/node/src/redis/index.ts');
  const assigner = `require(${JSON.stringify(redis)}).redisWorkers(${JSON.stringify(target)})`;
  writeFileSync(file, `module.exports = { ...${JSON.stringify(OPTIONS)}, workerIdAssigner: ${assigner} };`);
  const client = new Redis(target.connection);
  try {
    await initRedisWorkers(target);
    const next = await jsonHere<{ ids: string[] }>(['next', '-n', '2', '--config', file]);
    expect([next.code, next.result.ids.length]).toEqual([0, 2]);
    const fence = await jsonHere<{ barredMs: number }>(['fence', '--yes', '--config', file]);
    expect(fence.code).toBe(0);
    expect(fence.result.barredMs).toBeGreaterThan(175_000);
    expect(fence.result.barredMs).toBeLessThanOrEqual(185_000);
    expect(await jsonHere(['workers', '--config', file])).toMatchObject({
      result: { counts: { 'used-up': 7, free: 0 } },
    });
    expect(await raindropHere(['doctor', '--config', file])).toMatchObject({ code: 2 });
  } finally {
    await client.del(target.key);
    client.disconnect();
    rmSync(directory, { recursive: true, force: true });
  }
});
