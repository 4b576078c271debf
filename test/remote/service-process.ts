import type { DataSourceOptions } from 'typeorm';
import { databaseUrl, startDemo, type DemoProcess } from '../demo/demo-process.js';
import { freePort } from '../servers/free-port.js';

export interface Ports {
  readonly http: number;
  readonly tcp: number;
}

/** Starts the demo as an ID service for clients. */
export function startService(database: DataSourceOptions, { http, tcp }: Ports): Promise<DemoProcess> {
  const environment = { RAINDROP_LEASE_MS: '60000', PORT: String(http), TCP_PORT: String(tcp) };
  return startDemo({ databaseUrl: databaseUrl(database), environment });
}

/** Two ports that are free now. */
export async function freePorts(): Promise<Ports> {
  return { http: await freePort(), tcp: await freePort() };
}
