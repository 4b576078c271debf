import { createLayout, parseId } from '@raindrop/core';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { databaseUrl } from '../../product/service/service-process.js';
import { startListening, type Listening } from '../../support/processes/listening.js';
import type { Command } from '../../support/processes/die-with-us.js';
import { findProgram } from '../../support/servers/find-program.js';
import { testDatabase } from '../../support/servers/test-databases.js';
import { expectSince } from '../../support/expect-since.js';
import { shellCommands, type ShellCommand } from './shell-commands.js';
import { readDocument, typescriptBlocks } from './typescript-blocks.js';

/** `@scope/package/entry` is part of `@scope/package`. */
function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

const GUIDE = readDocument('docs/getting-started.md');
const [order, controller, sqliteModule, main] = typescriptBlocks(GUIDE);
/** The two lines of the DataSource, as step 6 says it. */
const [onMysql, onSqlite] = [...GUIDE.matchAll(/`(type: '[^`]*)`/g)].map(([, line]) => line!);
const mysqlModule = sqliteModule!.replace(onSqlite!, onMysql!);
const TSCONFIG = /^```json\n([\s\S]*?)^```$/m.exec(GUIDE)![1]!;
/** Every command, and what the guide says that it answers. */
const COMMANDS = shellCommands(['docs/getting-started.md']);
const [
  make,
  init,
  install,
  installTools,
  pack,
  installPacked,
  compile,
  startIt,
  post,
  find,
  refuse,
  reject,
  server,
  driver,
  address,
] = COMMANDS;

const run = promisify(execFile);

/** The project of step 1, but for what `npm install` would fetch. */
async function makeProject(folder: string): Promise<string> {
  await run('sh', ['-c', `${make!.command} && ${init!.command}`], { cwd: folder });
  const project = join(folder, 'shop');
  symlinkSync(resolve(__dirname, '../../../node_modules'), join(project, 'node_modules'));
  writeFileSync(join(project, 'tsconfig.json'), TSCONFIG);
  return project;
}

/** Writes files, each of which names itself in its first line, and compiles the project as the guide says. */
async function write(folder: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const path = join(folder, /^\/\/ (src\/.*)$/m.exec(file)![1]!);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file);
  }
  await run('sh', ['-c', compile!.command], { cwd: folder });
}

function start(folder: string, environment: Readonly<Record<string, string>> = {}): Promise<Listening> {
  return startListening(startIt!.command.split(' ') as unknown as Command, { cwd: folder, environment });
}

/** Sends a curl line of the guide to an app that listens elsewhere. */
async function send(line: string, url: string, id = ''): Promise<Record<string, unknown>> {
  const command = line.replace('http://127.0.0.1:3000', url).replace(/\d{17}$/, id);
  const { stdout } = await run('sh', ['-c', command]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

const answerOf = ({ answer }: ShellCommand): Record<string, unknown> => JSON.parse(answer) as Record<string, unknown>;

async function saveAndFind(url: string): Promise<Record<string, unknown>> {
  const before = Date.now();
  const saved = await send(post!.command, url);
  expect(saved).toEqual({ ...answerOf(post!), id: expect.stringMatching(/^\d{17}$/) as string });
  const found = await send(find!.command, url, String(saved['id']));
  expect(found).toEqual({
    ...answerOf(find!),
    id: saved['id'],
    createdAt: expect.any(String) as string,
    workerId: expect.any(Number) as number,
  });
  expectSince(before, Date.parse(String(found['createdAt'])));
  return found;
}

describe('The application of docs/getting-started.md', () => {
  const parent = mkdtempSync(join(tmpdir(), 'raindrop-guide-'));
  let folder: string;

  beforeAll(async () => {
    findProgram('curl');
    folder = await makeProject(parent);
  });
  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  it('is all of the guide', () => {
    expect(typescriptBlocks(GUIDE)).toHaveLength(4);
    expect(COMMANDS).toHaveLength(15);
    const layout = createLayout(
      { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
      Date.now(),
    );
    const { time, workerId } = parseId(layout, String(answerOf(find!)['id']));
    expect(answerOf(find!)).toEqual({ ...answerOf(post!), createdAt: time.toISOString(), workerId });
    expect(mysqlModule).toContain("TypeOrmModule.forRoot({ type: 'mysql', url: process.env.DATABASE_URL, ");
  });

  it('installs what it imports, and names one database', () => {
    const fetched = [install, installTools, driver].flatMap((line) => line!.command.split(' ').slice(2));
    const names = fetched.map((name) => name.replace(/(.)@[^@/]*$/, '$1'));
    const imported = typescriptBlocks(GUIDE).flatMap((block) => [...block.matchAll(/^import .*'([^.'][^']*)';$/gm)]);
    const needed = imported.map(([, name]) => packageOf(name!));
    expect(names).toEqual(expect.arrayContaining(needed.filter((name) => !name.startsWith('@raindrop/'))));
    // Ours come from the clone, to an application that lists Nest by then.
    expect(names).toContain('@nestjs/core');
    expect([pack!.command, installPacked!.command]).toEqual([
      'cd ../raindrop && npm ci && npm run pack -- ../shop --write',
      'cd ../shop && npm install',
    ]);
    expect(names).toEqual(expect.arrayContaining(['better-sqlite3', 'mysql2', 'typescript', '@types/node', 'rxjs']));
    const url = new URL(/^export DATABASE_URL=(.*)$/.exec(address!.command)![1]!);
    expect(server!.command).toContain(`-p 127.0.0.1:${url.port}:3306 `);
    expect(server!.command).toContain(`MYSQL_DATABASE=${url.pathname.slice(1)} `);
  });

  it('saves and finds an order on SQLite, twice at once under different workers, and ends when told to', async () => {
    await write(folder, [order!, controller!, sqliteModule!, main!]);
    const first = await start(folder);
    const second = await start(folder);
    const [a, b] = [await saveAndFind(first.url), await saveAndFind(second.url)];
    expect(a['workerId']).not.toBe(b['workerId']);
    for (const wrong of [refuse, reject]) expect(await send(wrong!.command, first.url)).toEqual(answerOf(wrong!));
    // Nest closes, then sends the signal to itself once more.
    expect(await Promise.all([first.stop(), second.stop()])).toEqual(['SIGTERM', 'SIGTERM']);
  });

  it('saves and finds an order on MySQL', async () => {
    const kind = process.env['RAINDROP_TEST_MYSQL_URL'] ? 'mysql' : 'mariadb';
    const database = await testDatabase(kind);
    await write(folder, [mysqlModule.replace("'mysql'", `'${kind}'`)]);
    const app = await start(folder, { DATABASE_URL: databaseUrl(database.options) });
    await saveAndFind(app.url);
    expect(await app.stop()).toBe('SIGTERM');
    await database.drop();
  });
});
