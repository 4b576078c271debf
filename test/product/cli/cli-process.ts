import type { ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { Child } from '../../support/processes/child.js';

/** As it is published: `npm run test:all` builds it. */
export const MAIN = resolve(__dirname, '../../../libs/cli/dist/main.js');
const TIMEOUT_MS = 150_000;

/** How a command has ended. */
export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  /** More environment variables. Those that the command reads are cleared first. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A file that takes its results, in place of this process. */
  readonly stdout?: number;
  /** Is shown the process as soon as it runs. */
  readonly begun?: (child: ChildProcess) => void;
  /** Is shown the process, and all that it has written to stdout so far, whenever there is more. */
  readonly watch?: (child: ChildProcess, stdout: string) => void;
}

/** Runs `raindrop` as a process of its own, without a terminal, and waits for its end. */
export async function raindrop(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { cwd, environment, begun, watch } = options;
  const read = Object.keys(process.env).filter((name) => /^(RAINDROP_|DATABASE_URL$)/.test(name));
  const child = new Child([process.execPath, MAIN, ...args], {
    cwd,
    environment: { ...Object.fromEntries(read.map((name) => [name, undefined])), ...environment },
    stdio: ['ignore', options.stdout ?? 'pipe', 'pipe'],
  });
  child.process.stdout?.on('data', () => watch?.(child.process, child.stdout));
  // What a test has stopped reading is read now, or it would never be closed.
  child.process.once('exit', () => child.process.stdout?.resume());
  begun?.(child.process);
  const { code } = await child.over(TIMEOUT_MS);
  return { code, stdout: child.stdout, stderr: child.stderr };
}

/** What a command with `--json` has answered. */
export interface JsonResult<Result> {
  readonly code: number | null;
  readonly result: Result;
}

/** Runs it with `--json`. @throws SyntaxError with what it wrote when that is no JSON */
export async function raindropJson<Result>(args: readonly string[], options?: CliOptions): Promise<JsonResult<Result>> {
  return jsonOf(await raindrop([...args, '--json'], options));
}

/** @throws SyntaxError with what the command wrote when that is no JSON */
export function jsonOf<Result>({ code, stdout, stderr }: CliResult): JsonResult<Result> {
  try {
    return { code, result: JSON.parse(stdout) as Result };
  } catch (error) {
    throw new SyntaxError(`no JSON (${String(error)}), exit code ${code}:\n${stdout}\n${stderr}`);
  }
}
