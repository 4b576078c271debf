import type { IdService, SnowflakeServiceStatus } from '@raindrop/nestjs';

/** The status of a service of snowflakes. */
export function leaseStatus(ids: Pick<IdService, 'name' | 'status'>): SnowflakeServiceStatus {
  const status = ids.status();
  if (status.idMode !== 'snowflake') throw new TypeError(`'${ids.name}' is no service of snowflakes`);
  return status;
}
