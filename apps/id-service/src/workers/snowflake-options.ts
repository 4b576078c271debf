import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import type { ServiceConfig } from '../service-config.js';

/** As in the defaults: 10 s of 60. */
const HEARTBEATS_IN_A_LEASE = 6;

/** What the ID service is made with. Lease and heartbeat keep the proportion of the library's own. */
export function snowflakeOptions({
  layout,
  workers,
  leaseMs,
}: Pick<ServiceConfig, 'layout' | 'workers' | 'leaseMs'>): SnowflakeModuleOptions {
  return {
    ...layout,
    serviceMinWorkId: workers.min,
    serviceMaxWorkId: workers.max,
    leaseMs,
    heartbeatIntervalMs: Math.min(Math.floor(leaseMs / HEARTBEATS_IN_A_LEASE), 600_000),
  };
}
