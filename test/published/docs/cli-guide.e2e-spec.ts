import type { INestApplicationContext } from '@nestjs/common';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import Sqlite from 'better-sqlite3';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { OPTIONS, startApp } from '../../support/module/module-fixture.js';
import { commandsBy, runShell } from './run-shell.js';
import { missingLines } from './shown-answer.js';

// Every command is a process.
/** As it is published: `npm run test:all` builds it. */
const MAIN = resolve(__dirname, '../../../libs/cli/dist/main.js');
/** Of the variables that docs/cli.md sets. */
const LAYOUT = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 3, endBitsLength: 1 } as const;
/** What depends on the host, and on how fast it is. */
const PASSING = /^ *\d+ +held +.* pid \d+$|^Node v|^-?$/;

const folder = mkdtempSync(join(tmpdir(), 'raindrop-cli-guide-'));
let holder: INestApplicationContext | undefined;

afterAll(async () => {
  await holder?.close();
  rmSync(folder, { recursive: true, force: true });
});

function onFile(statement: string): void {
  const file = new Sqlite(join(folder, 'shop.sqlite'));
  file.exec(statement);
  file.close();
}

/** A shop with a table of orders, and the program on the path. */
function prepare(): void {
  const program = join(folder, 'raindrop');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(program, 0o755);
  onFile('CREATE TABLE orders (id integer PRIMARY KEY AUTOINCREMENT, customer varchar)');
  onFile('CREATE TABLE order_lines (id integer PRIMARY KEY AUTOINCREMENT, "orderId" integer REFERENCES orders)');
  onFile("INSERT INTO orders VALUES (48211, 'Ada')");
}

/** The options of an import: its layout begins with the oldest row, so it has a worker table of its own. */
const IMPORT = { ...LAYOUT, startTimeStamp: '2016-01-01', workIdLength: 10, tableName: 'import_worker' };

/** What is the case before some commands of docs/cli.md, by what they show. */
async function before(command: string): Promise<void> {
  if (command.startsWith('raindrop backfill')) {
    writeFileSync(join(folder, 'raindrop.json'), JSON.stringify({ ...IMPORT, dbConfig: 'sqlite:shop.sqlite' }));
    writeFileSync(join(folder, 'times.txt'), '2016-04-01\n2019-01-01T12:00:00Z\n');
  }
  if (command === 'raindrop workers') {
    const dbConfig = `sqlite:${join(folder, 'shop.sqlite')}`;
    holder = await startApp([RaindropModule.forRoot({ ...LAYOUT, dbConfig, logger: OPTIONS.logger })]);
  }
  if (command === 'raindrop fence --yes') {
    await holder?.close();
    holder = undefined;
  }
  if (command === 'raindrop doctor') {
    // No fence bars the table, and two rows are missing.
    onFile('UPDATE soc_raindrop_worker SET odo0_ms = 0, odo1_ms = 0');
    onFile('UPDATE soc_raindrop_worker_state SET fenced_until_ms = 0');
    onFile('DELETE FROM soc_raindrop_worker WHERE id > 5');
  }
}

/** An ID of a process of which the history knows that it has ended. */
async function recordedId(): Promise<string> {
  const dbConfig = `sqlite:${join(folder, 'shop.sqlite')}`;
  const options = { ...LAYOUT, dbConfig, logger: OPTIONS.logger, workerHistory: true };
  const app = await startApp([RaindropModule.forRoot(options)]);
  const id = app.get(IdService).nextString();
  await app.close();
  return id;
}

/** The command as it runs here, with the variables that the document has set. */
async function runnable(command: string, variables: string): Promise<string> {
  if (command === 'raindrop bench') return `${variables}raindrop bench --seconds 0.2`;
  if (command.startsWith('raindrop who')) return `${variables}raindrop who ${await recordedId()}`;
  // Its file has other options than the variables.
  return command.startsWith('raindrop backfill') ? command : `${variables}${command}`;
}

beforeAll(prepare);

it.each(commandsBy('raindrop'))('the commands of %s print what is shown', async (_, commands) => {
  let variables = '';
  for (const { command, answer } of commands) {
    if (/^(export|unset) /.test(command)) {
      variables += `${command}; `;
      continue;
    }
    await before(command);
    const line = await runnable(command, variables);
    const environment = { PATH: `${folder}:${process.env['PATH']}`, DATABASE_URL: '' };
    const { code, stdout, stderr } = await runShell(line, folder, environment);
    const isRefused = /^(error: |fail )/.test(answer);
    expect({ command, stderr, failed: code !== 0 && code !== 3 }).toMatchObject({ command, failed: isRefused });
    const lines = answer.split('\n').filter((each) => !PASSING.test(each));
    const printed = `${stdout}${stderr}`.replaceAll(hostname(), 'shop-1');
    const missing = missingLines(lines.join('\n'), printed);
    const shown = missing.length > 0 ? printed : '';
    expect({ command, missing, shown }).toEqual({ command, missing: [], shown: '' });
  }
});
