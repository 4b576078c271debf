import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startListening, type Listening } from '../../support/processes/listening.js';
import { blocksOf, type Block } from '../docs/documents.js';
import { runShell } from '../docs/run-shell.js';
import { commandsOf } from '../docs/shell-commands.js';
import { differences } from '../docs/shown-answer.js';
import { readDocument } from '../docs/typescript-blocks.js';
import { releaseDayCommand } from './release-day.js';
import { runOrThrow } from './run-or-throw.js';

const TUTORIAL = 'docs/getting-started.md';
const LOCAL = 'http://127.0.0.1:3000';

export interface Followed {
  readonly commands: readonly string[];
  readonly folder: string;
}

/** What stands before the section on MySQL, which needs a server. */
function blocksOnSqlite(): Block[] {
  const end = readDocument(TUTORIAL).split('\n').indexOf('## 6. On MySQL');
  if (end === -1) throw new Error(`${TUTORIAL} has no section 6 on MySQL`);
  return blocksOf(TUTORIAL).filter(({ line }) => line <= end);
}

/**
 * Follows the tutorial in an empty folder, from top to bottom: runs its commands, writes its files, starts what it
 * starts, and holds each answer against the one shown. The application listens on a free port. The packages come from
 * the registry, as on the day of the release, instead of from a clone.
 * @returns what was run, and where the application is
 */
export async function followTutorial(parent: string, environment: Readonly<Record<string, string>>): Promise<Followed> {
  const done: string[] = [];
  const names = new Map<string, string>();
  let cwd = parent;
  let app: Listening | undefined;
  try {
    for (const block of blocksOnSqlite()) {
      if (block.language !== 'sh') {
        writeFile(block, cwd);
        continue;
      }
      for (const { command: shown, answer } of commandsOf(block)) {
        const command = shown.includes(' npm run pack ') ? releaseDayCommand() : shown;
        done.push(command);
        if (/^node /.test(command)) app = await startListening(['sh', '-c', command], { cwd, hasGroup: true });
        else if (command.startsWith('curl ')) await ask(command, answer, app, names, cwd);
        else cwd = await runAndFollow(command, cwd, environment);
      }
    }
  } finally {
    await app?.stop();
  }
  return { commands: done, folder: cwd };
}

/** A file of the tutorial names itself in its first line; JSON cannot, and is the compiler's. */
function writeFile({ language, text, line }: Block, folder: string): void {
  const name = language === 'json' ? 'tsconfig.json' : /^\/\/ (src\/\S+)$/m.exec(text)?.[1];
  if (name === undefined) throw new Error(`${TUTORIAL}:${line} does not say which file it is`);
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** @returns the folder where the shell is afterwards */
async function runAndFollow(command: string, cwd: string, environment: Readonly<Record<string, string>>) {
  const output = await runOrThrow(`${command}\nstatus=$?; echo; pwd; exit $status`, cwd, environment);
  return output.trim().split('\n').at(-1)!;
}

async function ask(
  command: string,
  answer: string,
  app: Listening | undefined,
  names: Map<string, string>,
  cwd: string,
): Promise<void> {
  if (app === undefined) throw new Error(`nothing was started before ${command}`);
  let line = command.replace(LOCAL, app.url);
  for (const [shown, now] of names) line = line.replace(shown, now);
  const { stdout } = await runShell(line, cwd);
  const wrong = differences(JSON.parse(answer), JSON.parse(stdout), names);
  if (wrong.length > 0) throw new Error(`${command} answers otherwise: ${wrong.join('; ')}`);
}
