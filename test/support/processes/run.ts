import { resolve } from 'node:path';
import type { Command } from './die-with-us';
import { Child, type ChildOptions, type Exit } from './child';

/** How a process has ended, and what it has printed. */
export interface Ended extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions extends ChildOptions {
  /** It is killed after that time. */
  readonly withinMs?: number | undefined;
}

/** What `node --require` needs to run the TypeScript of this workspace. */
export const HOOK = resolve(__dirname, '../../typescript-hook.cjs');

/** The command that runs a TypeScript file of this workspace. */
export function scriptCommand(file: string, args: readonly string[] = []): Command {
  return [process.execPath, '--require', HOOK, file, ...args];
}

/** Runs a command to its end, however it ends. */
export async function run(command: Command, { withinMs, ...options }: RunOptions = {}): Promise<Ended> {
  const child = new Child(command, options);
  const exit = await child.over(withinMs);
  return { ...exit, stdout: child.stdout, stderr: child.stderr };
}

/**
 * Runs a TypeScript file that prints JSON; what it says on the way is in the error, or where `stdio` leads to.
 * @throws Error when its last line is no JSON
 */
export async function runForJson<T>(
  file: string,
  args: readonly string[],
  options?: RunOptions,
): Promise<{ readonly code: number | null; readonly answer: T }> {
  const { code, signal, stdout, stderr } = await run(scriptCommand(file, args), options);
  const line = stdout.trimEnd().split('\n').at(-1)!;
  if (!/^[{[]/.test(line)) throw new Error(`${file} ended with ${signal ?? code} and no answer:\n${stdout}\n${stderr}`);
  return { code, answer: JSON.parse(line) as T };
}
