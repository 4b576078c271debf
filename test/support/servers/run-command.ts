import { run, type RunOptions } from '../processes/run';

/**
 * Runs a program to its end and gives its standard output.
 *
 * @throws Error with the last lines the program printed when it fails, is missing or takes too long.
 */
export async function runCommand(program: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { code, signal, stdout, stderr } = await run([program, ...args], { ...options, diesBy: false });
  if (code === 0) return stdout;
  throw new Error(`${[program, ...args].join(' ')} failed (${signal ?? code})${lastLines(stderr || stdout)}`);
}

/** The end of a program's output, ready to be appended to a message; empty when there is none. */
export function lastLines(output: string, count = 8): string {
  const lines = output.trim().split('\n').slice(-count);
  return lines.join('') === '' ? '' : `:\n${lines.map((line) => `      ${line}`).join('\n')}`;
}
