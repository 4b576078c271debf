import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { dirname, join, resolve } from 'node:path';
import { runShell } from '../../published/docs/run-shell.js';
import { shellCommands } from '../../published/docs/shell-commands.js';
import { differences } from '../../published/docs/shown-answer.js';

const ROOT = resolve(__dirname, '../../..');

/** What is started in a process of its own, beside the built examples. */
interface Startable {
  readonly folder: string;
  start(folder: string, environment: Readonly<Record<string, string>>): Promise<{ readonly url: string }>;
}

/** The first command of an example: what `npm run test:all` has done before the tests. */
const PREPARES = /^\(cd \.\.\/\.\. && npm ci && npm run build:(libs|orm)\)$/;

/** Runs the commands of an example's README; `npm start` and `npm run demo` as the example starts. */
export async function answersAsShown(example: Startable, document: string): Promise<void> {
  const commands = shellCommands().filter((each) => each.document === document);
  expect(commands.length).toBeGreaterThan(1);
  const names = new Map<string, string>();
  const urls = new Map<string, string>();
  const usual = usualPort(document);
  for (const { command, answer } of commands) {
    if (PREPARES.test(command)) continue;
    if (/npm (start|run demo)$/.test(command)) {
      const { PORT = usual, ...environment } = variablesOf(command);
      const { url } = await example.start(example.folder, environment);
      urls.set(`http://127.0.0.1:${PORT}`, url);
      continue;
    }
    let line = command;
    for (const [shown, now] of [...urls, ...names]) line = line.replace(shown, now);
    const answered: unknown = JSON.parse((await runShell(line, example.folder)).stdout);
    expect([command, differences(JSON.parse(answer), answered, names)]).toEqual([command, []]);
  }
}

/** The variables in front of a command. */
function variablesOf(command: string): Record<string, string> {
  return Object.fromEntries([...command.matchAll(/(\w+)=(\S+) /g)].map(([, name, value]) => [name!, value!]));
}

/** The port of an example, as its program has it. */
export function usualPort(document: string): string {
  const program = readFileSync(join(ROOT, dirname(document), 'src/main.ts'), 'utf8');
  return /process\.env\.PORT \?\? (\d+)/.exec(program)![1]!;
}

/** A taken port is one line that names the variable, and the end with code 1. */
export async function namesTakenPort(start: (environment: { PORT: string }) => Promise<unknown>): Promise<void> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const failure = await start({ PORT: String(port) }).catch((error: unknown) => error as Error);
    expect(failure).toBeInstanceOf(Error);
    const { message } = failure as Error;
    expect(message).toMatch(
      new RegExp(`ended with 1; [^]*^listen EADDRINUSE: .*127\\.0\\.0\\.1:${port}: set PORT to a free port$`, 'm'),
    );
    expect(message).not.toMatch(/^ {4}at /m);
  } finally {
    server.close();
  }
}
