import { codecs, createLayout, type LayoutPlan } from '@raindrop/core';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from './run-cli.js';

const OPTIONS = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 3, endBitsLength: 1 } as const;
const LAYOUT = ['--start', '2026-01-01', '--timestamp-bits', '33', '--worker-bits', '3', '--end-bits', '1'];
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
  writeFileSync(join(directory, 'broken.json'), `{ "dbConfig": "mysql://u:${SECRET}@h/d" `);
  writeFileSync(join(directory, 'list.json'), '[1]');
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
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = [stdout, stderr].map((stream) => {
    const chunks: string[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    return chunks;
  });
  const code = await runCli(args, { stdout, stderr });
  await new Promise((resolve) => setImmediate(resolve));
  return { code, stdout: texts[0]!.join(''), stderr: texts[1]!.join('') };
}

describe('what cannot work ends with 2 and says why', () => {
  it.each<{ args: string[]; says: string[] }>([
    { args: [], says: ['which command?'] },
    { args: ['nxet'], says: ['unknown command', 'next'] },
    { args: ['plan', '--strat', '1'], says: ['unknown option', '--start'] },
    { args: ['plan'], says: ['which layout?'] },
    { args: ['next', ...LAYOUT], says: ['which database?'] },
    { args: ['next', ...LAYOUT, '--url', 'sqlite:x', '-n', '0'], says: ['--count 0'] },
    { args: ['next', ...LAYOUT, '--url', 'sqlite:x', '--format', 'base7'], says: ['--format base7', 'base62'] },
    { args: ['decode', '1', '--preset', 'titter'], says: ['--preset titter', 'twitter'] },
    { args: ['decode', 'x', '-1', '--preset', 'twitter'], says: ['"x"', '"-1"'] },
    { args: ['decode', 'x', '18446744073709551616', '--preset', 'tsid'], says: ['"x"', '"18446744073709551616"'] },
    { args: ['decode', '1', '--preset', 'twitter', '--original'], says: ['--preset keyWorker'] },
    { args: ['plan', '--preset-option', 'nodeBits=3'], says: ['needs --preset'] },
    { args: ['plan', '--preset', 'tsid', '--preset-option', 'nodeBits'], says: ['must be name=value'] },
    { args: ['plan', '--preset', 'tsid', '--preset-option', 'nodeBits=21'], says: ['nodeBits = 21'] },
    { args: ['plan', '--config', 'nowhere.json'], says: ['is not there'] },
    { args: ['plan', '--config', 'list.json'], says: ['must hold an object'] },
    { args: ['plan', '--config', 'broken.json'], says: ['cannot be read: SyntaxError'] },
    { args: ['bench', '--seconds', 'soon'], says: ['--seconds'] },
    { args: ['adopt', '--url', 'sqlite:x'], says: ['--table'] },
    { args: ['adopt', '--url', `oracle://u:${SECRET}@h/d`, '--table', 't'], says: ['--url must begin with'] },
    { args: ['next', ...LAYOUT, '--url', `oracle://u:${SECRET}@h/d`], says: ['--url (dbConfig) = "(hidden)"'] },
    { args: ['next', `--ulr=mysql://u:a ${SECRET}@h/d`], says: ['unknown option'] },
    { args: [`postgres://h/d?password=${SECRET}&user=u`], says: ['unknown command'] },
    { args: ['next', ...LAYOUT, '--url', 'sqlite:x', '--code', 'x'.repeat(129)], says: ['--code has 129'] },
    { args: ['next', ...LAYOUT, '--url', 'sqlite:x', '--table', 'a"; DROP'], says: ['--table (tableName)'] },
    { args: ['next', ...LAYOUT, '--url', 'sqlite:x', '-n', '-5'], says: ['--count -5'] },
    { args: ['plan', 'more', ...LAYOUT], says: ['too many arguments'] },
    { args: ['help', 'nxet'], says: ['which command?'] },
    {
      args: ['plan', '--time-unit', 'week', '--timestamp-bits', 'many', '--worker-bits', '2', '--end-value', '4'],
      says: ['--time-unit', '--start (startTimeStamp)', '--timestamp-bits', '"many"', '--worker-bits', '--end-value'],
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
      'a flag before a file': '1@1288834974657:t41.w5.w5.s12',
      'flags before variables before a file': '1000@1767225600:t33.w3.b1.s25.e1=1',
      'a preset with options, from a file': '1@1577836800000:t42.w8.s14',
    };
    expect({ code, fingerprint: result.fingerprint }).toEqual({
      ...{ code: 0, fingerprint: expected[from] ?? layout.fingerprint },
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

describe('raindrop decode', () => {
  const id = layout.pack({ tick: 1_000, workerId: 5, clockBack: 1, sequence: 77 });

  it.each(Object.keys(codecs) as (keyof typeof codecs)[])('reads %s', async (format) => {
    const args = ['decode', codecs[format].encode(id), '--format', format, ...LAYOUT];
    const { code, stdout } = await raindrop([...args, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({
        ...{ id: String(id), time: '2026-01-01T00:16:40.000Z', workerId: 5, clockBack: 1, sequence: 77, endBits: 0 },
      }),
    ]);
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

describe('worker ids that nobody reserves', () => {
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
    expect(stderr).toContain(`no worker id from '${workerIdAssigner}'`);
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
    expect(stderr).toContain('lives in memory');
  });
});

it('a time that no Date can hold is a wrong ID among others', async () => {
  const days = ['--time-unit', 'day', '--start', '2026-01-01', '--timestamp-bits', '40', '--worker-bits', '3'];
  const { code, stdout, stderr } = await raindrop(['decode', '1', '9223372036854775807', ...days]);
  expect([code, stdout, stderr]).toEqual([2, expect.stringContaining('1  2026-01-01'), expect.anything()]);
  expect(stderr).toContain('not every ID can be read');
});

it('the version and help are results', async () => {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8')) as { version: string };
  expect(await raindrop(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect(await raindrop(['next', '--help'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('--count') as string,
  });
});
