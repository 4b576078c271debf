import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { dieWithUs } from '../servers/die-with-us.js';

const MAIN = resolve(__dirname, '../../dist/apps/demo/main.js');
/** As a line, or in the message of one of JSON. */
const READY = /Raindrop demo: .* click (http:[^\s"]+)\/docs\b/;
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 60_000;

export interface DemoProcessOptions {
  /** As DATABASE_URL; see {@link databaseUrl}. Default: the demo's own, a file under `cwd`. */
  readonly databaseUrl?: string;
  /** More environment variables. PORT is 0, any free port, unless it is given here. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Told the process's id at once, long before it answers. */
  readonly onSpawn?: (pid: number) => void;
}

/** How a process ended. */
export interface DemoExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly tookMs: number;
}

/** A demo that answers. */
export interface DemoProcess {
  /** Without a slash at the end: `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly pid: number;
  /** Everything it has printed so far, to both streams. */
  output(): string;
  /** Sends a signal, Ctrl-C's by default, and waits for the end. Safe to call twice. */
  stop(signal?: NodeJS.Signals): Promise<DemoExit>;
}

/**
 * Starts the built demo as a process of its own and waits until it listens.
 * @throws Error with what it printed, when it ends or takes longer than 2 min
 */
export async function startDemo(options: DemoProcessOptions = {}): Promise<DemoProcess> {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing: run npm run build first (npm run test:all does)`);
  const [program, ...args] = await dieWithUs([process.execPath, MAIN], 'SIGKILL');
  const child = spawn(program, args, {
    cwd: options.cwd,
    // An empty variable counts as not set. Nobody is there to be waited for at the end.
    env: { ...process.env, PORT: '0', DRAIN_MS: '0', DATABASE_URL: options.databaseUrl ?? '', ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) options.onSpawn?.(child.pid);
  let printed = '';
  const ended = new Promise<Omit<DemoExit, 'tookMs'>>((settle, fail) => {
    child.once('error', fail);
    child.once('close', (code, signal) => settle({ code, signal }));
  });
  const url = await new Promise<string>((settle, fail) => {
    const failed = (reason: string): void => fail(new Error(`the demo ${reason}; it printed:\n${printed}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      failed(`did not start in ${START_TIMEOUT_MS} ms`);
    }, START_TIMEOUT_MS);
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      const ready = READY.exec(printed)?.[1];
      if (ready === undefined) return;
      clearTimeout(timer);
      settle(ready);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    ended.then(({ code, signal }) => failed(`ended with ${code ?? signal}`), fail).finally(() => clearTimeout(timer));
  });

  return {
    url,
    pid: child.pid!,
    output: () => printed,
    stop: async (signal = 'SIGINT') => {
      const begin = Date.now();
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      const exit = await ended.finally(() => clearTimeout(timer));
      return { ...exit, tookMs: Date.now() - begin };
    },
  };
}

/** The DATABASE_URL of a test database. */
export function databaseUrl(options: DataSourceOptions): string {
  if (options.type === 'better-sqlite3') return `sqlite:${String(options.database)}`;
  const { type, host, port, username, password, database } = options as unknown as Record<string, unknown>;
  const url = new URL(`${String(type)}://${String(host)}:${String(port)}/${String(database)}`);
  url.username = String(username);
  url.password = String(password);
  return url.href;
}
