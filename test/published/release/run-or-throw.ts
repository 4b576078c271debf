import { runShell } from '../docs/run-shell.js';
import { lastLines } from '../../support/servers/run-command.js';

/** What fetches packages may take so long. */
const DEADLINE_MS = 300_000;

/**
 * Runs a command line to its end.
 * @returns its standard output
 * @throws Error with the last lines that it printed, unless it ends with 0
 */
export async function runOrThrow(command: string, cwd: string, environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const { code, stdout, stderr } = await runShell(command, cwd, environment, DEADLINE_MS);
  if (code !== 0) throw new Error(`${command} ended with ${code}${lastLines(`${stdout}\n${stderr}`, 20)}`);
  return stdout;
}
