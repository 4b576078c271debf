import { join, resolve } from 'node:path';
import { run } from '../../support/processes/run.js';
import { lastLines } from '../../support/servers/run-command.js';
import { serverUrl } from '../../support/servers/server-url.js';

export const BENCH = resolve(__dirname, '../../../bench');

/**
 * Runs a script of bench to its end. Scripts look for servers by themselves, and leave out what they do not find.
 * @returns what it prints
 * @throws Error with its last lines, unless it ends with 0; MissingForTests without one of the servers
 */
export async function printedBy(script: string, ...args: string[]): Promise<string> {
  for (const kind of ['mariadb', 'postgres', 'redis'] as const) serverUrl(kind);
  const { code, stdout, stderr } = await run([process.execPath, join(BENCH, script), ...args]);
  if (code !== 0) throw new Error(`bench/${script} ended with ${code}${lastLines(`${stdout}\n${stderr}`, 20)}`);
  return stdout;
}
