import { execFile } from 'node:child_process';
import { shellCommands, type ShellCommand } from './shell-commands.js';
import { shellPlaceOf, type ShellPlace } from './shell-places.js';

const TIMEOUT_MS = 170_000;

/** How a command line has ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line as a reader's shell does, and waits for its end. */
export function runShell(
  command: string,
  cwd: string,
  environment: NodeJS.ProcessEnv = {},
  timeout = TIMEOUT_MS,
): Promise<Ended> {
  return new Promise((settle) => {
    const options = { cwd, env: { ...process.env, ...environment }, timeout };
    execFile('bash', ['-c', command], options, (error, stdout, stderr) =>
      settle({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** The commands that are run in one of the ways, by document. */
export function commandsBy(by: ShellPlace['by']): [document: string, commands: ShellCommand[]][] {
  const commands = shellCommands().filter((each) => shellPlaceOf(each)?.by === by);
  const documents = [...new Set(commands.map(({ document }) => document))];
  return documents.map((document) => [document, commands.filter((each) => each.document === document)]);
}
