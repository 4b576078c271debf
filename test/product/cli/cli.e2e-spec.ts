import { createLayout, type LayoutPlan } from '@raindrop/core';
import { once } from 'node:events';
import { cpSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseUrl } from '../service/service-process.js';
import { run } from '../../support/processes/run.js';
import { databaseKinds, testDatabase } from '../../support/servers/test-databases.js';
import { jsonHere, raindropHere } from './cli-in-process.js';
import { MAIN, raindrop, raindropJson } from './cli-process.js';

// Every command is a process here: what a process is needed for, the rest is in the files beside this one.
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
  // As where the command is installed globally, and the application has its own copy.
  cpSync(join(MAIN, '../../../core/dist'), join(directory, 'core'), { recursive: true });
  const made = `require('./core/index.js').createLayout(${JSON.stringify(OPTIONS)}, Date.now())`;
  writeFileSync(join(directory, 'layout.cjs'), `exports.layout = ${made};`);
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('takes the layout from JSON, a CommonJS or ES module, and from one with a core of its own', async () => {
  const files = ['options.json', 'options.cjs', 'options.mjs', 'layout.cjs'];
  const plans = files.map((file) => raindropJson<LayoutPlan>(['plan', '--config', file], { cwd: directory }));
  for (const { code, result } of await Promise.all(plans)) {
    expect({ code, fingerprint: result.fingerprint }).toEqual({ code: 0, fingerprint: layout.fingerprint });
  }
});

it('colours are for terminals, wrong input ends the process with 2, and lost output with 1', async () => {
  const { version } = JSON.parse(readFileSync(join(MAIN, '../../package.json'), 'utf8')) as { version: string };
  const full = openSync('/dev/full', 'w');
  const [said, piped, forced, terminal, plain, lost] = await Promise.all([
    raindrop(['--version']),
    raindrop(['decode', '1', 'x', ...LAYOUT]),
    raindrop(['decode', 'x', ...LAYOUT], { environment: { FORCE_COLOR: '1' } }),
    onTerminal({ TERM: 'xterm' }),
    onTerminal({ TERM: 'xterm', NO_COLOR: '1' }),
    raindrop(['plan', ...LAYOUT], { stdout: full }),
  ]);
  expect(said).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect(piped).toMatchObject({ code: 2, stderr: expect.stringContaining('"x"') as string });
  expect(piped.stdout).toContain('1  2026-01-01');
  expect(piped.stdout + piped.stderr + forced.stderr).not.toContain('\u001b');
  expect(terminal).toContain('\u001b[31merror:');
  expect(plain).toContain('error:');
  expect(plain).not.toContain('\u001b');
  expect(lost).toMatchObject({ code: 1, stderr: expect.stringContaining('ENOSPC') as string });
});

it.each([
  ['lines', '-n 3 --format base62', 3, 'base62'],
  ['JSON', '-n 2500 --format base62 --json', 2_500, 'decimal'],
])('what next writes, decode reads: %s', async (name, flags, count, form) => {
  const cli = `${process.execPath} ${MAIN}`;
  const url = `sqlite:${join(directory, `piped-${name}.sqlite`)}`;
  const piped = `${cli} next ${flags} --url ${url} ${LAYOUT.join(' ')} | ${cli} decode ${LAYOUT.join(' ')} --json`;
  const { stdout } = await run(['sh', '-c', piped]);
  const read = JSON.parse(stdout) as { id: string; form: string }[];
  expect([read.length, new Set(read.map(({ id }) => id)).size]).toEqual([count, count]);
  expect(new Set(read.map((each) => each.form))).toEqual(new Set([form]));
});

/** What it shows on a terminal, for an ID that is none. */
async function onTerminal(environment: Record<string, string>): Promise<string> {
  const command = [process.execPath, MAIN, 'decode', 'x', ...LAYOUT].join(' ');
  const inherited = Object.keys(process.env).filter((name) => /COLOR|^CI$/.test(name));
  // BSD's takes the file first, and the command as words.
  const args =
    process.platform === 'darwin' ? ['-q', '/dev/null', 'sh', '-c', command] : ['-qec', command, '/dev/null'];
  const { stdout } = await run(['script', ...args], {
    environment: { ...Object.fromEntries(inherited.map((name) => [name, undefined])), ...environment },
  });
  return stdout;
}

it.each(databaseKinds)(
  'next on %s gives its worker id back when it is interrupted, and shows it while it is held',
  async (kind) => {
    const database = await testDatabase(kind);
    const url = databaseUrl(database.options);
    const workers = async (): Promise<{ held: number }> =>
      (await jsonHere<{ counts: { held: number } }>(['workers', '--url', url])).result.counts;
    try {
      await jsonHere(['init', '--url', url, ...LAYOUT]);
      let seen: Promise<{ held: number }> | undefined;
      const { code, stdout, stderr } = await raindrop(['next', '-n', '1000000000', '--json', ...LAYOUT], {
        environment: { DATABASE_URL: url },
        watch: (child) => {
          seen ??= workers().finally(() => child.kill('SIGINT'));
        },
      });
      expect([code, JSON.parse(stderr)]).toEqual([
        130,
        { error: expect.objectContaining({ message: 'ended by SIGINT' }) as object },
      ]);
      expect((await seen)!.held).toBe(1);
      const { ids } = JSON.parse(stdout) as { ids: string[] };
      expect(new Set(ids).size).toBe(ids.length);
      expect((await workers()).held).toBe(0);
    } finally {
      await database.drop();
    }
  },
);

it('a reader that has seen enough is no error, and one that reads no more keeps no worker id', async () => {
  const url = `sqlite:${join(directory, 'enough.sqlite')}`;
  await jsonHere(['init', '--url', url, ...LAYOUT]);
  const next = ['next', '-n', '100000000', ...LAYOUT];
  let isStalled = false;
  const [gone, stalled] = await Promise.all([
    raindrop(next, { environment: { DATABASE_URL: url }, watch: (child) => child.stdout?.destroy() }),
    raindrop(next, {
      environment: { DATABASE_URL: url },
      watch: (child) => {
        // What is left in the pipe is read when the process has ended.
        if (isStalled) return;
        isStalled = true;
        child.stdout?.pause();
        child.kill('SIGTERM');
      },
    }),
  ]);
  expect([gone.code, gone.stderr]).toEqual([0, '']);
  expect([stalled.code, stalled.stderr]).toEqual([143, 'ended by SIGTERM\n']);
  const { result } = await jsonHere<{ counts: { held: number } }>(['workers', '--url', url]);
  expect(result.counts.held).toBe(0);
});

it('a password stays out of the output, whatever fails', async () => {
  const servers = ['mysql', 'postgres'].map((kind) => `${kind}://root:${SECRET}@127.0.0.1:1/d`);
  const attempts = servers.flatMap((url) =>
    [['next'], ['doctor'], ['workers'], ['adopt', '--table', 't']].map((args) => [...args, ...LAYOUT, '--url', url]),
  );
  for (const args of attempts) {
    const { code, stdout, stderr } = await raindropHere(args);
    expect([args[0], code]).toEqual([args[0], 1]);
    expect(stdout + stderr).toMatch(/ECONNREFUSED/);
    expect(stdout + stderr).not.toContain(SECRET);
  }
});

it.each(['workers', 'next', 'adopt'])(
  'a signal ends the wait of %s for a server that never answers',
  async (command) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const args = [command, ...LAYOUT, '--url', `mysql://root:${SECRET}@127.0.0.1:${port}/d`, '--json'];
    const sockets: Socket[] = [];
    const { code, stdout, stderr } = await raindrop([...args, ...(command === 'adopt' ? ['--table', 't'] : [])], {
      begun: (child) => {
        server.on('connection', (socket) => {
          sockets.push(socket.on('error', () => undefined));
          child.kill('SIGINT');
        });
      },
    });
    for (const each of sockets) each.destroy();
    server.close();
    expect([code, stdout]).toEqual([130, '']);
    expect(JSON.parse(stderr)).toMatchObject({ error: { message: 'ended by SIGINT' } });
  },
);

it('bench measures the default layout and the machine, without a database', async () => {
  interface Measured {
    readonly fingerprint: string;
    readonly capacity: number;
    readonly results: readonly { readonly idsPerSecond: number }[];
  }
  const { code, result } = await raindropJson<Measured & { machine: Measured }>(['bench', '--seconds', '0.4']);
  expect(code).toBe(0);
  expect(result).toMatchObject({ fingerprint: '1000@1767225600:t33.w10.b1.s18.e1=0', capacity: 262_144 });
  expect(result.machine.capacity).toBeGreaterThan(100_000_000);
  for (const { results } of [result, result.machine]) {
    expect(results).toHaveLength(2);
    for (const { idsPerSecond } of results) expect(idsPerSecond).toBeGreaterThan(10_000);
  }
});
