import type { DataSourceOptions } from 'typeorm';
import { databaseUrl, startDemo, type DemoProcess } from '../demo/demo-process.js';

/** Starts the demo as an ID service for clients. */
export function startService(database: DataSourceOptions, port: number): Promise<DemoProcess> {
  const environment = { RAINDROP_LEASE_MS: '60000', PORT: String(port) };
  return startDemo({ databaseUrl: databaseUrl(database), environment });
}
