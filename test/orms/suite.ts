import { join } from 'node:path';
import { run } from '../support/processes/run.js';

const DEADLINE_MS = 120_000;

/**
 * Runs a compiled script of `test/orms/<orm>` as an application: by plain `node`, on the packed libraries that `npm run
 * build:orm` has laid beside the ORM.
 * @param given what the script finds as JSON in `process.argv[2]`
 * @returns what its last line says, as JSON
 * @throws Error with all that it printed when it failed
 */
export async function runSuite<T>(orm: string, script: string, given: unknown = {}): Promise<T> {
  const file = join(__dirname, orm, 'dist', `${script}.js`);
  const command = [process.execPath, file, JSON.stringify(given)] as const;
  const { code, signal, stdout, stderr } = await run(command, { withinMs: DEADLINE_MS });
  if (code !== 0) throw new Error(`${file} ended with ${signal ?? code}:\n${stdout}\n${stderr}`);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as T;
}
