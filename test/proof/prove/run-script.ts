import { join } from 'node:path';
import { runForJson } from '../../support/processes/run.js';

const DAY_MS = 86_400_000;
const root = join(__dirname, '../../..');

/** What a script of ours left behind. */
export interface ScriptResult<T> {
  /** Its last line of JSON. */
  readonly answer: T;
  readonly exitCode: number | null;
  readonly seconds: number;
  /** How anybody can run it again. */
  readonly command: string;
}

/**
 * Runs one of the npm scripts with `--json`; what it reports on the way goes to our standard error.
 * @throws Error when it ends without a line of JSON
 */
export async function runScript<T>(script: string, file: string, args: readonly string[]): Promise<ScriptResult<T>> {
  const command = ['npm run', script, ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
  process.stderr.write(`\n== ${command}\n`);
  const began = performance.now();
  const { code, answer } = await runForJson<T>(file, [...args, '--json'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    withinMs: DAY_MS,
  });
  return { answer, exitCode: code, seconds: Math.round((performance.now() - began) / 1_000), command };
}
