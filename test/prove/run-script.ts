import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const root = join(__dirname, '../..');

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
  const nodeArgs = ['--require', './test/typescript-hook.cjs', file, ...args, '--json'];
  const child = spawn(process.execPath, nodeArgs, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  const line = output.trim().split('\n').at(-1) ?? '';
  if (!/^[{[]/.test(line)) throw new Error(`${command} ended with ${exitCode} and no answer:\n${output}`);
  const seconds = Math.round((performance.now() - began) / 1_000);
  return { answer: JSON.parse(line) as T, exitCode, seconds, command };
}
