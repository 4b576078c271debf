import { execFile } from 'node:child_process';

export interface CommandOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Runs a program to its end and gives its standard output.
 *
 * @throws Error with the last lines the program printed when it fails, is missing or takes longer than `timeoutMs`.
 */
export function runCommand(program: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { timeoutMs, ...spawnOptions } = options;
  return new Promise((resolve, reject) => {
    execFile(
      program,
      args,
      { ...spawnOptions, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) {
          resolve(stdout);
          return;
        }
        const outcome = error.killed ? `took longer than ${timeoutMs} ms` : `failed (${error.code ?? error.signal})`;
        reject(new Error(`${[program, ...args].join(' ')} ${outcome}${lastLines(stderr || stdout)}`));
      },
    );
  });
}

/** The end of a program's output, ready to be appended to a message; empty when there is none. */
export function lastLines(output: string, count = 8): string {
  const lines = output.trim().split('\n').slice(-count);
  return lines.join('') === '' ? '' : `:\n${lines.map((line) => `      ${line}`).join('\n')}`;
}
