import type { DataSourceOptions } from 'typeorm';
import { databaseUrl, startServiceProcess, type ServiceProcess } from '../service/service-process.js';

/** Starts the service as an ID service for clients. */
export function startService(database: DataSourceOptions, port: number): Promise<ServiceProcess> {
  const environment = { RAINDROP_LEASE_MS: '60000', PORT: String(port) };
  return startServiceProcess({ databaseUrl: databaseUrl(database), environment });
}
