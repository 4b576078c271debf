import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { run } from '../../support/processes/run.js';
import { temporaryDirectory } from '../../support/state-file/temporary-directory.js';

const ROOT = resolve(__dirname, '../../..');
const hasNodeSqlite = process.getBuiltinModule('node:sqlite') !== undefined;
const [itWithNode, itWithoutNode] = hasNodeSqlite ? [it, it.skip] : [it.skip, it];

const APP = `
const opening = process.argv[2] === undefined ? undefined : new (require('adapter'))(process.argv[2]);
const { openIdService } = require('@raindrop/node');
async function main() {
  const ids = await openIdService({ dbConfig: 'sqlite:data/ids.sqlite', serviceMaxWorkId: 15 });
  const id = await ids.nextId();
  const again = await openIdService({ dbConfig: 'sqlite:data/ids.sqlite', serviceMaxWorkId: 15 });
  const workers = new Set([ids, again].map(({ workerId }) => workerId)).size;
  await ids.close();
  await again.close();
  console.log(JSON.stringify({ id: String(id), workers, loaded: Object.keys(require.cache).some((file) => file.endsWith('.node')) }));
}
main().catch(({ errorCode, message }) => console.log(JSON.stringify({ errorCode, message })));
`;

/** The main thread has opened a file by the adapter; the thread runs the application. */
const THREAD = `
const { join } = require('node:path');
const database = new (require('adapter'))(':memory:');
new (require('node:worker_threads').Worker)(join(__dirname, 'app.cjs')).on('exit', () => database.close());
`;

/** The package is installed while the process has the file open: both connections then want to write. */
const INSTALL = `
const { symlinkSync } = require('node:fs');
const { SqliteDriver } = require('./node_modules/@raindrop/node/dist/drivers/sqlite-driver.js');
const connect = () => new SqliteDriver({ type: 'better-sqlite3', database: 'ids.sqlite' }).connect();
async function main() {
  await (await connect()).query('BEGIN IMMEDIATE', []);
  symlinkSync('adapter/node_modules/better-sqlite3', 'node_modules/better-sqlite3');
  await (await connect()).query('BEGIN IMMEDIATE', []);
  console.log(JSON.stringify({ code: 'none: both hold the lock' }));
}
main().catch(({ code, message }) => console.log(JSON.stringify({ code, message })));
`;

let directory: string;
let drop: () => void;

/** The built packages in an application that has no better-sqlite3, and another package that has one of its own. */
beforeEach(() => {
  ({ directory, drop } = temporaryDirectory());
  const modules = join(directory, 'node_modules');
  for (const each of ['core', 'node']) {
    for (const part of ['dist', 'package.json']) {
      cpSync(join(ROOT, 'libs', each, part), join(modules, '@raindrop', each, part), { recursive: true });
    }
  }
  const adapter = join(modules, 'adapter');
  mkdirSync(join(adapter, 'node_modules'), { recursive: true });
  const itsOwn = dirname(require.resolve('better-sqlite3/package.json'));
  symlinkSync(itsOwn, join(adapter, 'node_modules/better-sqlite3'));
  writeFileSync(join(adapter, 'index.js'), `module.exports = require('better-sqlite3');`);
  for (const [name, source] of Object.entries({ app: APP, thread: THREAD, install: INSTALL })) {
    writeFileSync(join(directory, `${name}.cjs`), source);
  }
});

afterEach(() => drop());

async function answerOf(script: string, ...args: string[]): Promise<{ answer: Record<string, unknown>; said: string }> {
  const { stdout, stderr } = await run([process.execPath, join(directory, script), ...args], { cwd: directory });
  if (stdout === '') throw new Error(stderr);
  return { answer: JSON.parse(stdout) as Record<string, unknown>, said: stderr };
}

describe('An application on SQLite that has no better-sqlite3', () => {
  itWithNode("gets IDs by Node's own SQLite, with a file and a folder that are made", async () => {
    const { answer, said } = await answerOf('app.cjs');
    expect(answer).toEqual({ id: expect.stringMatching(/^\d{10,19}$/) as string, workers: 2, loaded: false });
    // Node 22 warns of the module itself.
    expect(said.replace(/^\(node:\d+\) ExperimentalWarning: SQLite .*\n\(Use `node --trace-warnings .*\n/, '')).toBe(
      '',
    );
  });

  itWithNode('is refused beside a copy that another package has loaded, whose locks it would release', async () => {
    const { answer } = await answerOf('app.cjs', ':memory:');
    expect(answer).toMatchObject({ errorCode: 'DRIVER_NOT_INSTALLED' });
    expect(answer['message']).toMatch(
      /Run npm install better-sqlite3 .*own SQLite is not used beside .*better-sqlite3,/,
    );
  });

  const itOnLinux = process.platform === 'linux' ? itWithNode : it.skip;

  itOnLinux('is refused in a thread beside a copy that another thread has loaded', async () => {
    const { answer } = await answerOf('thread.cjs');
    expect(answer).toMatchObject({ errorCode: 'DRIVER_NOT_INSTALLED' });
    expect(answer['message']).toMatch(/own SQLite is not used beside .*better-sqlite3,/);
  });

  itWithNode('stays with the driver of its first connection when better-sqlite3 is installed meanwhile', async () => {
    const { answer } = await answerOf('install.cjs');
    expect(answer).toMatchObject({ code: 'SQLITE_BUSY' });
  });

  itWithoutNode('is told below Node 22.13 what to install, and that later ones need nothing', async () => {
    const { answer } = await answerOf('app.cjs');
    expect(answer).toMatchObject({ errorCode: 'DRIVER_NOT_INSTALLED' });
    expect(answer['message']).toMatch(/install better-sqlite3@12\. Node 22\.13 and later need no driver for SQLite\./);
  });
});
