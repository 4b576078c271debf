import { fork, type ChildProcess, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { HOOK } from './run.js';

export interface ForkedOptions extends Pick<ForkOptions, 'serialization' | 'stdio'> {
  readonly args?: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
}

/** A process that runs a TypeScript file of this workspace, with a channel between it and this one. */
export function forkScript(file: string, { args = [], environment, ...options }: ForkedOptions = {}): ChildProcess {
  return fork(file, args, { ...options, execArgv: ['--require', HOOK], env: { ...process.env, ...environment } });
}

export function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** Ends it the hard way, also where it is stopped, and waits for that. */
export async function kill(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
