import { codecs, createLayout, type LayoutAdvice, type LayoutPlan } from '@raindrop/core';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { runCli } from './run-cli.js';

const OPTIONS = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 3, endBitsLength: 1 } as const;
const LAYOUT = ['--start', '2026-01-01', '--timestamp-bits', '33', '--worker-bits', '3', '--end-bits', '1'];
const PARTITIONS = [...LAYOUT, '--db', 'postgres', '--table', 'orders', '--partitions'];
const KEEP = [...PARTITIONS, 'month', '--ahead', '3', '--keep'];
const layout = createLayout(OPTIONS, Date.now());
/** Where something that must stay secret could come out. */
const SECRET = 'hunter2-the-password';

const variables = { ...process.env };
const home = process.cwd();
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'raindrop-cli-'));
  writeFileSync(join(directory, 'options.json'), JSON.stringify(OPTIONS));
  writeFileSync(join(directory, 'preset.json'), JSON.stringify({ preset: { name: 'tsid', nodeBits: 8 } }));
  writeFileSync(join(directory, 'presets.json'), JSON.stringify({ preset: { name: ['tsid'], nodeBits: 8 } }));
  writeFileSync(join(directory, 'broken.json'), `{ "dbConfig": "mysql://u:${SECRET}@h/d" `);
  writeFileSync(join(directory, 'list.json'), '[1]');
  writeFileSync(join(directory, 'wrong.json'), '{ "startTimeStamp": "2026-01-01", "workIdLength": 2 }');
  const misspelt = { ...OPTIONS, workIdLenght: 4, pasword: SECRET };
  writeFileSync(join(directory, 'unknown.json'), JSON.stringify(misspelt));
  process.chdir(directory);
});

afterEach(() => {
  process.env = { ...variables };
});

afterAll(() => {
  process.chdir(home);
  rmSync(directory, { recursive: true, force: true });
});

/** Runs the command in this process. */
async function raindrop(
  args: readonly string[],
  input?: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = [stdout, stderr].map((stream) => {
    const chunks: string[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    return chunks;
  });
  const code = await runCli(args, { stdout, stderr, ...(input !== undefined && { stdin: Readable.from([input]) }) });
  await new Promise((resolve) => setImmediate(resolve));
  return { code, stdout: texts[0]!.join(''), stderr: texts[1]!.join('') };
}

describe('a database that cannot be reached', () => {
  const url = 'postgres://u:x@127.0.0.1:1/d';

  it.each([
    ['workers'],
    ['next', ...LAYOUT],
    ['init', ...LAYOUT],
    ['doctor', ...LAYOUT],
    ['adopt', '--table', 't', ...LAYOUT],
  ])('raindrop %s says what to do', async (...args) => {
    const named = await raindrop([...args, '--url', url]);
    expect(named.code).toBe(1);
    expect(named.stdout + named.stderr).toContain('start the database, or correct host and port in --url: nothing');
    process.env['DATABASE_URL'] = url;
    const set = await raindrop(args);
    expect(set.stdout + set.stderr).toContain('start the database, or correct host and port in DATABASE_URL: nothing');
    const { stdout, stderr } = await raindrop([...args, '--json']);
    expect(stdout + stderr).toContain('correct host and port in DATABASE_URL');
  });
});

describe('what cannot work ends with 2 and says why', () => {
  it.each<{ args: string[]; says: string[] }>([
    { args: ['nxet'], says: ['unknown command', 'Did you mean next?'] },
    { args: ['help', 'nxet'], says: ['unknown command', 'Did you mean next?'] },
    { args: ['--'], says: ['no command given'] },
    { args: ['plan', '--strat', '1'], says: ['unknown option', '--start'] },
    { args: ['plan', '--layout', 'numbers'], says: ['--layout "numbers": ', "'number'"] },
    { args: ['plan', '--layout', 'number', '--preset', 'twitter'], says: ['not both'] },
    {
      args: ['plan', '--processes', '0', '--rate', 'many'],
      says: ['--processes 0: is out of range', '--rate "many": must be a number'],
    },
    { args: ['next', ...LAYOUT], says: ['no database given'] },
    { args: ['next', ...LAYOUT, '--url', 'sqlite:x', '-n', '0'], says: ['--count 0'] },
    { args: ['next', ...LAYOUT, '--url', 'sqlite:x', '--format', 'base7'], says: ['--format base7', 'base62'] },
    { args: ['decode', '1', '--preset', 'titter'], says: ['--preset titter', 'twitter'] },
    { args: ['decode', 'x', '-1', '--preset', 'twitter'], says: ['"x"', '"-1"'] },
    { args: ['decode', 'x', '18446744073709551616', '--preset', 'tsid'], says: ['"x"', '"18446744073709551616"'] },
    { args: ['decode', '1', '--preset', 'twitter', '--original'], says: ['--preset keyWorker'] },
    { args: ['plan', '--preset-option', 'nodeBits=3'], says: ['requires --preset'] },
    { args: ['plan', '--preset', 'tsid', '--preset-option', 'nodeBits'], says: ['must be name=value'] },
    { args: ['plan', '--preset', 'tsid', '--preset-option', 'nodeBits=21'], says: ['nodeBits = 21'] },
    { args: ['plan', '--config', 'nowhere.json'], says: ['does not exist'] },
    {
      args: ['next', ...LAYOUT, '--url', 'http://x'],
      says: ['--url "(hidden)": must be a URL that begins with mysql:, mariadb:, postgres: or sqlite:\n'],
    },
    { args: ['next', ...LAYOUT, '--url', 'sqlite:file:/data/a.db'], says: ['a file path, not a file: URI'] },
    {
      args: ['plan', '--layout', 'foo'],
      says: [`--layout "foo": must be 'number'; for that of another system use --preset\n`],
    },
    { args: ['plan', '--config', 'presets.json'], says: ['--preset an array is unknown'] },
    { args: ['plan', '--config', 'list.json'], says: ['must contain an object'] },
    { args: ['plan', '--config', 'broken.json'], says: ['cannot be read: SyntaxError at line 1, column 52'] },
    { args: ['plan', '--config', 'unknown.json'], says: ['workIdLenght = (number): is not an option; did you mean'] },
    { args: ['decode', '1', '--config', 'unknown.json'], says: ['workIdLenght = (number)', 'pasword = (string)'] },
    { args: ['decode'], says: ['no IDs', '| raindrop decode'] },
    { args: ['decode', '018f3c1e-7b2a-7c3d-9e4f-5a6b7c8d9e0f'], says: ['not a snowflake: UUID of version 7, 2024-'] },
    { args: ['decode', 'not an ID'], says: ['not an ID of a known system'] },
    { args: ['backfill', ...LAYOUT, '--url', 'sqlite:x', '--no-table'], says: ['--from is required', 'oldest row'] },
    {
      args: ['backfill', ...LAYOUT, '--url', 'sqlite:x', '--from', '2026-01'],
      says: ['--table is required', '--no-table'],
    },
    { args: ['backfill', ...LAYOUT, '--from', '2026-02-01', '--no-table'], says: ['no database given'] },
    {
      args: ['backfill', ...LAYOUT, '--url', 'sqlite:x', '--from', 'May', '--no-table'],
      says: ['--from May: must be'],
    },
    { args: ['sql', ...LAYOUT], says: ['which database?', 'mariadb'] },
    { args: ['sql', ...LAYOUT, '--db', 'oracle'], says: ['--db oracle', 'postgres, mysql, mariadb, sqlite'] },
    { args: ['sql', ...LAYOUT, '--db', 'sqlite'], says: ['no functions in SQL', '--table'] },
    { args: ['sql', '--db', 'mysql', '--preset', 'twitter', '--start', '0999-12-31'], says: ['years 1000 to 9999'] },
    { args: ['sql', ...LAYOUT, '--db', 'mysql', '--from', '2026-01'], says: ['--from is for --partitions'] },
    { args: ['sql', ...PARTITIONS, 'year'], says: ['--partitions year: must be month, week or day'] },
    { args: ['sql', ...PARTITIONS, 'month', '--from', '2026-01'], says: ['--from and --to'] },
    { args: ['sql', ...PARTITIONS, 'month', '--from', '2026-02-30', '--to', '2027-01'], says: ['--from 2026-02-30'] },
    { args: ['sql', ...PARTITIONS, 'month', '--from', '2026-01', '--to', '2026'], says: ['--to 2026: must be'] },
    { args: ['sql', ...PARTITIONS, 'month', '--from', '2026-02', '--to', '2026-02'], says: ['later than --from'] },
    {
      args: ['sql', ...PARTITIONS, 'month', '--from', '2025-12', '--to', '2026-02'],
      says: ['p2025_12 would hold no ID'],
    },
    {
      args: ['sql', ...PARTITIONS, 'month', '--from', '2298-02', '--to', '2298-05'],
      says: ['p2298_04 would hold no ID'],
    },
    { args: ['sql', ...PARTITIONS, 'day', '--from', '2026-01', '--to', '2056-01'], says: ['8,191 partitions'] },
    { args: ['sql', ...PARTITIONS, 'month', '--to', '2027-01', '--ahead', '3'], says: ['not both'] },
    { args: ['sql', ...PARTITIONS, 'month', '--ahead', '0'], says: ['--ahead 0'] },
    { args: ['sql', ...LAYOUT, '--db', 'mysql', '--keep', '3'], says: ['--keep 3 is for --partitions'] },
    { args: ['sql', ...LAYOUT, '--db', 'mysql', '--drop'], says: ['--drop is for --partitions'] },
    { args: ['sql', ...PARTITIONS, 'year', '--keep', '3'], says: ['--partitions year: must be month, week or day'] },
    { args: ['sql', ...PARTITIONS, 'month', '--keep', '3'], says: ['--keep 3 needs --ahead'] },
    { args: ['sql', ...KEEP, '0'], says: ['--keep 0: must be all, or a number from 1 to 7,000'] },
    { args: ['sql', ...KEEP, '7001'], says: ['--keep 7001: must be all, or a number from 1 to 7,000'] },
    { args: ['sql', ...KEEP, '90d'], says: ['--keep 90d: must be all'] },
    {
      args: ['sql', ...KEEP, '3', '--ahead', '901'],
      says: ['--ahead 901: must be a number from 1 to 900 with --keep'],
    },
    { args: ['sql', ...KEEP, '3', '--from', '2026-01'], says: ['--from 2026-01: not with --keep', 'clock'] },
    { args: ['sql', ...KEEP, '3', '--to', '2026-01'], says: ['--to 2026-01: not with --keep', 'clock'] },
    { args: ['sql', ...KEEP, 'all', '--drop'], says: ['--drop: there is nothing to drop with --keep all'] },
    { args: ['sql', ...KEEP, '3', '--db', 'mariadb'], says: ['--keep 3: MySQL and MariaDB do not detach', '--drop'] },
    { args: ['sql', ...KEEP, '3', '--db', 'sqlite'], says: ['SQLite has no partitions'] },
    { args: ['sql', ...KEEP, '3', '--table', 'o'.repeat(56)], says: [`--table ${'o'.repeat(56)}`, '63 bytes'] },
    {
      args: ['sql', ...PARTITIONS, 'month', '--from', '2026-01', '--to', '2027-01', '--drop'],
      says: ['--drop is for --keep'],
    },
    { args: ['sql', ...LAYOUT, '--db', 'mysql', '--partitions', 'month', '--ahead', '1'], says: ['needs --table'] },
    {
      args: ['sql', ...LAYOUT, '--db', 'sqlite', '--table', 'orders', '--partitions', 'month', '--ahead', '1'],
      says: ['SQLite has no partitions'],
    },
    {
      args: ['sql', ...LAYOUT, '--db', 'postgres', '--table', 'o'.repeat(56), '--partitions', 'month', '--ahead', '1'],
      says: ['more than 63 bytes'],
    },
    { args: ['workers', '--url', 'sqlite:x', '--watch', 'often'], says: ['--watch'] },
    { args: ['bench', '--seconds', 'soon'], says: ['--seconds'] },
    { args: ['adopt', '--url', 'sqlite:x'], says: ['--table'] },
    { args: ['adopt', '--url', `oracle://u:${SECRET}@h/d`, '--table', 't'], says: ['--url must begin with'] },
    { args: ['next', ...LAYOUT, '--url', `oracle://u:${SECRET}@h/d`], says: ['--url "(hidden)": '] },
    { args: ['next', `--ulr=mysql://u:a ${SECRET}@h/d`], says: ['unknown option'] },
    { args: [`postgres://h/d?password=${SECRET}&user=u`], says: ['unknown command'] },
    { args: ['next', ...LAYOUT, '--url', 'sqlite:x', '--code', 'x'.repeat(129)], says: ['--code has 129'] },
    { args: ['next', ...LAYOUT, '--url', 'sqlite:x', '--table', 'a"; DROP'], says: ['--table "a\\"; DROP": '] },
    { args: ['next', ...LAYOUT, '--url', 'sqlite:x', '-n', '-5'], says: ['--count -5'] },
    { args: ['plan', 'more', ...LAYOUT], says: ['too many arguments'] },
    { args: ['plan', '--nodes', 'some', '--need', '0'], says: ['--nodes "some": must be a number\n', '--need 0: '] },
    { args: ['decode', '1', '--short', '--json'], says: ["'--short' cannot be used with option '--json'"] },
    { args: ['init', '--module-only'], says: ['--module-only requires --project'] },
    {
      args: ['plan', '--time-unit', 'week', '--timestamp-bits', 'many', '--worker-bits', '2', '--end-value', '4'],
      says: [
        '--time-unit "week"',
        '--start is required',
        '--timestamp-bits "many": must be a number; the range depends on --time-unit\n',
        '--worker-bits 2',
      ],
    },
  ])(
    '$args',
    async ({ args, says }) => {
      const { code, stdout, stderr } = await raindrop(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      for (const each of says) expect(stderr).toContain(each);
      expect(stderr).not.toContain(SECRET);
      expect(stderr).not.toContain('\u001b');
      // The first that needs Nest loads it.
    },
    30_000,
  );

  it.each<{ from: string; args: string[]; environment?: Record<string, string>; says: string[] }>([
    { from: 'a flag', args: ['--worker-bits', '2'], says: ['--worker-bits 2: ', '--timestamp-bits is required: '] },
    {
      from: 'a variable',
      args: [],
      environment: { RAINDROP_WORKER_BITS: '2', RAINDROP_TIME_UNIT: 'day' },
      says: ['RAINDROP_WORKER_BITS = 2: ', '--timestamp-bits is required: ', "with RAINDROP_TIME_UNIT 'day' fewer"],
    },
    {
      from: 'a file, and what a flag sets',
      args: ['--config', 'wrong.json', '--end-bits', '9'],
      says: ['workIdLength = 2: ', 'timeStampLength is required: ', '--end-bits 9: '],
    },
  ])('names an option as $from does', async ({ args, environment = {}, says }) => {
    Object.assign(process.env, environment);
    const { code, stderr } = await raindrop(['plan', ...args]);
    expect(code).toBe(2);
    for (const each of says) expect(stderr).toContain(each);
    expect(stderr).not.toMatch(/dbConfig|--worker-bits \(|undefined/);
  });

  it('as JSON on stderr, for programs', async () => {
    const { code, stdout, stderr } = await raindrop(['plan', '--worker-bits', '2', '--json']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const { error } = JSON.parse(stderr) as { error: { code: string; problems: string[] } };
    expect(error.code).toBe('CONFIGURATION');
    expect(error.problems).toHaveLength(3);
  });
});

describe('raindrop plan', () => {
  it.each<{ from: string; args: string[]; environment?: Record<string, string> }>([
    { from: 'flags', args: LAYOUT },
    { from: 'a JSON file', args: ['--config', 'options.json'] },
    { from: 'the default, where none is named', args: [] },
    { from: 'number before a file', args: ['--config', 'options.json', '--layout', 'number', '--start', '2026-01-02'] },
    { from: 'a file that a variable names', args: [], environment: { RAINDROP_CONFIG: 'options.json' } },
    { from: 'a flag before a file', args: ['--config', 'preset.json', '--preset', 'twitter'] },
    {
      from: 'flags before variables before a file',
      args: ['--config', 'options.json', '--worker-bits', '3'],
      environment: { RAINDROP_WORKER_BITS: '9', RAINDROP_END_VALUE: '1' },
    },
    { from: 'a preset with options, from a file', args: ['--config', 'preset.json'] },
  ])('takes the layout from $from', async ({ from, args, environment = {} }) => {
    Object.assign(process.env, environment);
    const { code, stdout } = await raindrop(['plan', ...args, '--json']);
    const result = JSON.parse(stdout) as LayoutPlan;
    const expected: Record<string, string> = {
      'the default, where none is named': '1000@1767225600:t33.w10.b1.s18.e1=0',
      'number before a file': '1000@1767312000:t30.w8.b1.s13.e1=0',
      'a flag before a file': '1@1288834974657:t41.w5.w5.s12',
      'flags before variables before a file': '1000@1767225600:t33.w3.b1.s25.e1=1',
      'a preset with options, from a file': '1@1577836800000:t42.w8.s14',
    };
    expect({ code, fingerprint: result.fingerprint }).toEqual({
      code: 0,
      fingerprint: expected[from] ?? layout.fingerprint,
    });
  });

  it('draws the bits for people, and warns on stderr', async () => {
    const { code, stdout, stderr } = await raindrop(['plan', ...LAYOUT, '--nodes', '5', '--need', '99999999']);
    expect(code).toBe(0);
    expect(stdout).toContain('| sign  | timestamp | worker | clockBack | sequence | end   |');
    expect(stdout).toContain('until 2298-03-16T12:56:32.000Z');
    expect(stderr.match(/\((FEW_WORKERS|CAPACITY)\)/g)).toEqual(['(CAPACITY)', '(FEW_WORKERS)']);
    expect(stdout + stderr).not.toContain('\u001b');
  });
});

describe('raindrop plan without a layout', () => {
  it('advises layouts that plan the same when they are given', async () => {
    const { code, stdout } = await raindrop(['plan', '--processes', '50', '--rate', '2000', '--numbers', '--json']);
    const advice = JSON.parse(stdout) as LayoutAdvice[];
    expect(code).toBe(0);
    expect(advice.map(({ name }) => name)).toEqual(['number', 'fitted', 'milliseconds']);
    const text = (await raindrop(['plan', '--processes', '50', '--rate', '2000', '--numbers'])).stdout;
    const flags = text.split('\n').filter((line) => line.startsWith('  --'));
    for (const [index, line] of flags.entries()) {
      const planned = await raindrop(['plan', ...line.trim().split(' '), '--json']);
      const { workers, idsPerSecond, safeUntil, fingerprint } = advice[index]!.plan;
      expect(JSON.parse(planned.stdout)).toMatchObject({ workers, idsPerSecond, safeUntil });
      // The named one ends where its IDs stop being exact numbers.
      if (line !== '  --layout number') expect(JSON.parse(planned.stdout)).toMatchObject({ fingerprint });
    }
    expect(flags).toHaveLength(3);
    expect(flags[0]).toBe('  --layout number');
  });

  it('says which needs the nearest ones miss', async () => {
    const { code, stdout } = await raindrop(['plan', '--processes', '500', '--rate', '20000', '--numbers']);
    expect(code).toBe(0);
    expect(stdout).toContain('which does not meet all needs');
    expect(stdout).toMatch(/^ {2}- .*keep them as strings\.$/m);
  });
});

describe('raindrop decode', () => {
  const id = layout.pack({ tick: 1_000, workerId: 5, clockBack: 1, sequence: 77 });

  it.each(Object.keys(codecs) as (keyof typeof codecs)[])('reads %s', async (format) => {
    const args = ['decode', codecs[format].encode(id), '--format', format, ...LAYOUT];
    const { code, stdout } = await raindrop([...args, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({
        id: String(id),
        time: '2026-01-01T00:16:40.000Z',
        workerId: 5,
        clockBack: 1,
        sequence: 77,
        endBits: 0,
      }),
    ]);
  });

  it.each(Object.keys(codecs) as (keyof typeof codecs)[])('recognises %s', async (format) => {
    const now = layout.pack({ tick: 20_000_000, workerId: 5, clockBack: 0, sequence: 7 });
    const { code, stdout } = await raindrop(['decode', codecs[format].encode(now), ...LAYOUT, '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([0, [expect.objectContaining({ id: String(now), workerId: 5 })]]);
  });

  it.each([
    { text: '175928847299117063', title: 'Discord', time: '2016-04-30T11:18:25.796Z' },
    { text: 'https://x.com/jack/status/1050118621198921728', title: 'Twitter', time: '2018-10-10T20:19:24.211Z' },
    { text: '238206311858190', title: "Raindrop's layout 'number'", time: '2026-11-25T15:53:25.000Z' },
  ])('recognises the system of $text', async ({ text, title, time }) => {
    const { code, stdout } = await raindrop(['decode', text]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(time)]);
    expect(stdout.split('\n')[1]).toContain(title);
    const { stdout: json } = await raindrop(['decode', text, '--json']);
    const [{ time: at, readings }] = JSON.parse(json) as [{ time: string; readings: { title: string }[] }];
    expect([at, readings[0]!.title]).toEqual([time, stdout.split('\n')[1]!.split(':')[0]]);
  });

  it('reads IDs from stdin, one a line, and shows those that it can read', async () => {
    const [first, second] = [1_000, 2_000].map((tick) => layout.pack({ tick, workerId: 5, clockBack: 0, sequence: 0 }));
    const input = `${first}\r\n\n  "${second}",\nx\n`;
    const { code, stdout, stderr } = await raindrop(['decode', ...LAYOUT], input);
    expect([code, stdout.match(/worker 5/g)]).toEqual([2, ['worker 5', 'worker 5']]);
    expect(stderr).toContain('"x"');
    const json = await raindrop(['decode', '-', ...LAYOUT, '--json'], `${first}\n${second}`);
    expect(json.code).toBe(0);
    expect((JSON.parse(json.stdout) as { id: string }[]).map(({ id }) => id)).toEqual([`${first}`, `${second}`]);
    expect(await raindrop(['decode', ...LAYOUT], ' \n')).toMatchObject({ code: 2, stdout: '' });
  });

  it('reads more lines than it keeps, as one document', async () => {
    const ids = Array.from({ length: 1_100 }, (_, tick) =>
      layout.pack({ tick, workerId: 1, clockBack: 0, sequence: 0 }),
    );
    const { code, stdout, stderr } = await raindrop(['decode', ...LAYOUT, '--json'], `${ids.join('\n')}\n`);
    expect([code, stderr]).toEqual([0, '']);
    expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual(ids.map(String));
    const wrong = await raindrop(['decode', ...LAYOUT], Array(250).fill('x').join('\n'));
    expect(wrong.stderr).toContain('and 150 more');
  });

  it('reads the documents that next --json writes, and jq, among other lines', async () => {
    const ids = [1_000, 2_000, 3_000].map((tick) => layout.pack({ tick, workerId: 5, clockBack: 0, sequence: 0 }));
    const decoded = async (input: string, ...args: string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await raindrop(['decode', ...LAYOUT, ...args, '--json'], input);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return (JSON.parse(stdout) as { id: string }[]).map(({ id: each }) => each);
    };
    for (const format of Object.keys(codecs) as (keyof typeof codecs)[]) {
      const written = { workerId: 5, format, ids: ids.map(codecs[format].encode) };
      expect(await decoded(`${JSON.stringify(written)}\n`)).toEqual(ids.map(String));
      expect(await decoded(JSON.stringify(written, null, 2))).toEqual(ids.map(String));
      expect(await decoded(JSON.stringify(written), '--format', format)).toEqual(ids.map(String));
    }
    const document = JSON.stringify({ workerId: 5, format: 'decimal', ids: ids.map(String) });
    const inLines = document.replace(',"', ',\n"');
    expect(await decoded(`${ids[2]}\n${inLines}\n${document}\n${ids[0]}`)).toEqual(
      [ids[2], ...ids, ...ids, ids[0]].map(String),
    );
  });

  it('reads a document of many IDs a thousand at a time, and refuses one that is none of next', async () => {
    const ids = Array.from({ length: 1_100 }, (_, tick) =>
      String(layout.pack({ tick, workerId: 1, clockBack: 0, sequence: 0 })),
    );
    const document = JSON.stringify({ workerId: 1, format: 'decimal', ids });
    const { code, stdout } = await raindrop(['decode', ...LAYOUT, '--short'], document);
    expect([
      code,
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    ]).toEqual([0, ids]);
    const other = await raindrop(['decode', ...LAYOUT, '--short'], `{"id":"1"}\n${ids[0]}\n{"ids":["x"]}`);
    expect([other.code, other.stdout.trimEnd().split('\n').length]).toEqual([2, 1]);
    expect(other.stderr).toContain('{\\"id\\":\\"1\\"}');
    expect(other.stderr).toContain('"x"');
  });

  it('with --short writes one line for each ID', async () => {
    const { code, stdout } = await raindrop(['decode', '--short', `${id}`, `${id}`, ...LAYOUT]);
    const line = `${id}  2026-01-01T00:16:40.000Z  worker 5  sequence 77\n`;
    expect([code, stdout]).toEqual([0, line + line]);
    const recognised = await raindrop(['decode', '--short', '175928847299117063', '30138287892987904']);
    expect(recognised.stdout.split('\n')).toEqual([
      expect.stringMatching(/^175928847299117063 {2}2016-04-30T11:18:25.796Z {2}worker .* {2}Discord \(likely\)$/),
      expect.stringMatching(/^30138287892987904 {2}2026-11-21T20:47:47.000Z {2}worker .* {2}\S.*\(\w+\)$/),
      '',
    ]);
  });

  it('gives each field a colour on a terminal', async () => {
    const stdout = Object.assign(new PassThrough(), { isTTY: true, hasColors: () => true });
    const chunks: string[] = [];
    stdout.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    await runCli(['decode', `${id}`, ...LAYOUT], { stdout, stderr: new PassThrough() });
    const lines = chunks.join('').trimEnd().split('\n');
    expect(lines.at(-1)).toContain('\u001b[33m101\u001b[39m');
    expect(lines.join('\n')).toContain('\u001b[33mworker\u001b[39m');
  });

  it.each([
    { preset: 'twitter', text: '1050118621198921728', time: '2018-10-10T20:19:24.211Z' },
    { preset: 'tsid', text: '18446744073709551615', time: '2159-05-15T07:35:11.103Z' },
    // It expired, and still reads.
    { preset: 'uidGenerator', text: '3200169789968523265', time: '2019-05-02T15:26:39.000Z' },
    { preset: 'keyworker', text: '7708799346338615307', time: '2018-07-21T00:00:00.000Z', args: ['--original'] },
  ])('reads $preset', async ({ preset, text, time, args = [] }) => {
    const { code, stdout } = await raindrop(['decode', text, '--preset', preset, ...args]);
    expect([code, stdout.split('\n')[0]]).toEqual([0, expect.stringContaining(`${text}  ${time}`)]);
  });

  it('shows the IDs that it can read beside those that it cannot', async () => {
    const { code, stdout, stderr } = await raindrop(['decode', '1', 'x', ...LAYOUT]);
    expect(code).toBe(2);
    expect(stdout).toContain('1  2026-01-01');
    expect(stderr).toContain('"x"');
  });
});

describe('worker ids that no store reserves', () => {
  const url = ['--url', 'sqlite:there.sqlite'];
  let files = 0;
  /** A new one each time: Node reads a file once. */
  const fileOf = (more: object): string => {
    const name = `given-${files++}.json`;
    writeFileSync(join(directory, name), JSON.stringify({ ...OPTIONS, ...more }));
    return name;
  };

  it.each(['static', 'statefulSet', 'ip', 'machine'])('are refused by next: %s', async (workerIdAssigner) => {
    const more = workerIdAssigner === 'static' ? { workerId: 3 } : {};
    const file = fileOf({ workerIdAssigner, ...more });
    const { code, stdout, stderr } = await raindrop(['next', '--config', file]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`does not use worker ids of '${workerIdAssigner}'`);
    expect(await raindrop(['next', '--config', file, ...url])).toMatchObject({ code: 2, stdout: '' });
    expect(existsSync(join(directory, 'there.sqlite'))).toBe(false);
  });

  it('are no matter of init and doctor', async () => {
    for (const command of ['init', 'doctor']) {
      const { code, stderr } = await raindrop([
        command,
        '--config',
        fileOf({ workerIdAssigner: 'static', workerId: 3 }),
      ]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('the options name static') as string]);
    }
  });

  it('nor are rows in memory', async () => {
    const file = fileOf({ allowVolatile: true });
    const { code, stdout, stderr } = await raindrop(['next', '--config', file, '--url', 'sqlite::memory:']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('is in memory');
  });
});

it('a time that no Date can hold is a wrong ID among others', async () => {
  const days = ['--time-unit', 'day', '--start', '2026-01-01', '--timestamp-bits', '40', '--worker-bits', '3'];
  const { code, stdout, stderr } = await raindrop(['decode', '1', '9223372036854775807', ...days]);
  expect([code, stdout, stderr]).toEqual([2, expect.stringContaining('1  2026-01-01'), expect.anything()]);
  expect(stderr).toContain('some IDs cannot be read');
});

it("help begins with what is a command's own, ends with examples, and comes without being asked for", async () => {
  const { stdout: next } = await raindrop(['next', '--help']);
  expect(next.match(/^\S.*:$/gm)).toEqual(['Options:', 'Layout:', 'Database:', 'Examples:']);
  expect(next.indexOf('--count')).toBeLessThan(next.indexOf('Layout:'));
  const { stdout: commands } = await raindrop(['--help']);
  for (const [, name] of commands.matchAll(/^ {2}(\w+) \[options\]/gm)) {
    const { stdout } = await raindrop([name!, '--help']);
    expect(stdout.split('Examples:\n')[1]).toMatch(/^ {2}raindrop /);
  }
  expect(await raindrop([])).toEqual({ code: 0, stdout: commands, stderr: '' });
});

it('the version and help are results', async () => {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8')) as { version: string };
  expect(await raindrop(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect(await raindrop(['next', '--help'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('--count') as string,
  });
});
