import { createLayout, parseId } from '@raindrop/core';
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { databaseUrl } from '../demo/demo-process.js';
import { dieWithUs } from '../servers/die-with-us.js';
import { testDatabase } from '../servers/test-databases.js';
import { readDocument, typescriptBlocks } from './typescript-blocks.js';

const GUIDE = readDocument('docs/getting-started.md');
const [order, controller, sqliteModule, main, mysqlModule] = typescriptBlocks(GUIDE);
const TSCONFIG = /^```json\n([\s\S]*?)^```$/m.exec(GUIDE)![1]!;
/** The shell blocks: a command, and below it perhaps the answer. */
const SHELL = [...GUIDE.matchAll(/^```sh\n(.*)\n(?:# (.*)\n)?```$/gm)].map(([, command, answer]) => ({
  command: command!,
  answer: answer === undefined ? undefined : (JSON.parse(answer) as Record<string, unknown>),
}));
const [compile, post, find, reject] = SHELL;

const run = promisify(execFile);

interface Started {
  readonly url: string;
  stop(): Promise<number | NodeJS.Signals | null>;
}

/** A directory with these files, each of which names itself in its first line, compiled as the guide says. */
async function makeProject(files: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'raindrop-shop-'));
  // In place of npm install.
  symlinkSync(resolve(__dirname, '../../node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(folder, 'tsconfig.json'), TSCONFIG);
  for (const file of files) {
    const path = join(folder, /^\/\/ (src\/.*)$/m.exec(file)![1]!);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file);
  }
  await run('sh', ['-c', compile!.command], { cwd: folder });
  return folder;
}

async function start(folder: string, environment: Readonly<Record<string, string>> = {}): Promise<Started> {
  const [program, ...args] = await dieWithUs([process.execPath, 'dist/main.js'], 'SIGKILL');
  const env = { ...process.env, ...environment, PORT: '0' };
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  const ended = new Promise<number | NodeJS.Signals | null>((settle) => {
    child.once('close', (code, signal) => settle(code ?? signal));
  });
  const listening = new Promise<string>((settle) => {
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      const url = /^listening at (\S+)$/m.exec(printed)?.[1];
      if (url !== undefined) settle(url);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  });
  const failed = ended.then((end) => Promise.reject(new Error(`it ended with ${end}; it printed:\n${printed}`)));
  const url = await Promise.race([listening, failed]);
  return {
    url,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Sends a curl line of the guide to an app that listens elsewhere. */
async function send(line: string, url: string, id = ''): Promise<Record<string, unknown>> {
  const command = line.replace('http://127.0.0.1:3000', url).replace(/\d{17}$/, id);
  const { stdout } = await run('sh', ['-c', command]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function saveAndFind(url: string): Promise<Record<string, unknown>> {
  const saved = await send(post!.command, url);
  expect(saved).toEqual({ ...post!.answer, id: expect.stringMatching(/^\d{17}$/) as string });
  const found = await send(find!.command, url, String(saved['id']));
  expect(found).toEqual({
    ...find!.answer,
    id: saved['id'],
    createdAt: expect.any(String) as string,
    workerId: expect.any(Number) as number,
  });
  expect(Math.abs(Date.parse(String(found['createdAt'])) - Date.now())).toBeLessThan(5_000);
  return found;
}

describe('The application of docs/getting-started.md', () => {
  const folders: string[] = [];
  const project = async (files: readonly string[]): Promise<string> => {
    const folder = await makeProject(files);
    folders.push(folder);
    return folder;
  };

  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it('is all of the guide', () => {
    expect(typescriptBlocks(GUIDE)).toHaveLength(5);
    expect(SHELL).toHaveLength(GUIDE.match(/^```sh$/gm)!.length);
    const layout = createLayout(
      { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
      Date.now(),
    );
    const { time, workerId } = parseId(layout, String(find!.answer!['id']));
    expect(find!.answer).toEqual({ ...post!.answer, createdAt: time.toISOString(), workerId });
    expect(mysqlModule).toBe(
      sqliteModule!.replace(
        "type: 'better-sqlite3', database: 'shop.sqlite'",
        "type: 'mysql', url: process.env.DATABASE_URL",
      ),
    );
  });

  it('saves and finds an order on SQLite, twice at once under different workers, and ends when told to', async () => {
    const folder = await project([order!, controller!, sqliteModule!, main!]);
    const first = await start(folder);
    const second = await start(folder);
    const [a, b] = [await saveAndFind(first.url), await saveAndFind(second.url)];
    expect(a['workerId']).not.toBe(b['workerId']);
    expect(await send(reject!.command, first.url)).toEqual(reject!.answer);
    // Nest closes, then sends the signal to itself once more.
    expect(await Promise.all([first.stop(), second.stop()])).toEqual(['SIGTERM', 'SIGTERM']);
  }, 90_000);

  it('saves and finds an order on MySQL', async () => {
    const kind = process.env['RAINDROP_TEST_MYSQL_URL'] ? 'mysql' : 'mariadb';
    const database = await testDatabase(kind);
    const folder = await project([order!, controller!, mysqlModule!.replace("'mysql'", `'${kind}'`), main!]);
    const app = await start(folder, { DATABASE_URL: databaseUrl(database.options) });
    await saveAndFind(app.url);
    expect(await app.stop()).toBe('SIGTERM');
    await database.drop();
  }, 90_000);
});
