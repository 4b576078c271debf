import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { Child, type Exit } from '../../support/processes/child.js';

const MAIN = resolve(__dirname, '../../../dist/apps/id-service/main.js');
/** As a line, or in the message of one of JSON. */
const READY = /Raindrop: .* click (http:\/\/[^\s"/]+)\//;

export interface ServiceProcessOptions {
  /** As DATABASE_URL; see {@link databaseUrl}. Default: the service's own, a file under `cwd`. */
  readonly databaseUrl?: string;
  /** More environment variables. PORT is 0, any free port, unless it is given here. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Told the process's id at once, long before it answers. */
  readonly onSpawn?: (pid: number) => void;
}

/** How a process ended. */
export interface ServiceExit extends Exit {
  readonly tookMs: number;
}

/** An ID service that answers. */
export interface ServiceProcess {
  /** Without a slash at the end: `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly pid: number;
  /** Everything it has printed so far, to both streams. */
  output(): string;
  /** Sends a signal, Ctrl-C's by default, and waits for the end. Safe to call twice. */
  stop(signal?: NodeJS.Signals): Promise<ServiceExit>;
}

/**
 * Starts the built service as a process of its own and waits until it listens.
 * @throws Error with what it printed, when it ends or takes too long
 */
export async function startServiceProcess(options: ServiceProcessOptions = {}): Promise<ServiceProcess> {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing: run npm run build first (npm run test:all does)`);
  const { cwd, databaseUrl = '', environment, onSpawn } = options;
  const child = new Child([process.execPath, MAIN], {
    cwd,
    // An empty variable counts as not set. No client is there to wait for at the end.
    environment: { PORT: '0', DRAIN_MS: '0', DATABASE_URL: databaseUrl, ...environment },
  });
  const { pid } = child.process;
  if (pid !== undefined) onSpawn?.(pid);
  const [, url] = await child.says(READY);
  return {
    url: url!,
    pid: pid!,
    output: () => child.printed,
    stop: async (signal = 'SIGINT') => {
      const begin = Date.now();
      return { ...(await child.end(signal)), tookMs: Date.now() - begin };
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
