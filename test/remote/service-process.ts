import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { databaseUrl } from '../demo/demo-process.js';
import { dieWithUs } from '../servers/die-with-us.js';

const HOOK = resolve(__dirname, '../typescript-hook.cjs');

export interface Ports {
  readonly http: number;
  readonly tcp: number;
}

/** An ID service in a process of its own. */
export interface ServiceProcess {
  readonly url: string;
  readonly tcpPort: number;
  /** Sends a signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

/** Starts one and waits until it listens. @throws Error with what it printed when it ends */
export async function startService(
  database: DataSourceOptions,
  ports: Ports,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const command = [process.execPath, '--require', HOOK, resolve(__dirname, 'remote-service.ts')] as const;
  const [program, ...args] = await dieWithUs([...command], 'SIGKILL');
  const own = { PORT: String(ports.http), TCP_PORT: String(ports.tcp), DATABASE_URL: databaseUrl(database) };
  const child = spawn(program, args, {
    env: { ...process.env, RAINDROP_LEASE_MS: '60000', ...own, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let printed = '';
  await new Promise<void>((ready, fail) => {
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      if (/^ready /m.test(printed)) ready();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => fail(new Error(`the service ended; it printed:\n${printed}`)));
  });
  return {
    url: `http://127.0.0.1:${ports.http}`,
    tcpPort: ports.tcp,
    stop: async (signal) => {
      child.kill(signal);
      await ended;
    },
  };
}

/** Two ports that are free now. */
export async function freePorts(): Promise<Ports> {
  const servers = [createServer(), createServer()];
  const [http, tcp] = await Promise.all(
    servers.map(async (server) => {
      await once(server.listen(0, '127.0.0.1'), 'listening');
      return (server.address() as AddressInfo).port;
    }),
  );
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return { http: http!, tcp: tcp! };
}
