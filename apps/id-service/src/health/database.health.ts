import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { DataSource } from 'typeorm';

const TIMEOUT_MS = 1_000;

/** Whether the application's database answers. Terminus's own indicator would show the driver's message to the world. */
@Injectable()
export class DatabaseHealthIndicator {
  constructor(
    private readonly health: HealthIndicatorService,
    private readonly dataSource: DataSource,
  ) {}

  isHealthy<const Key extends string>(key: Key): PromiseLike<HealthIndicatorResult<Key>> {
    const ping = (): Promise<void> =>
      this.dataSource.query('SELECT 1').then(
        () => undefined,
        () => Promise.reject(new Error('the database does not answer')),
      );
    return this.health.check(key).attempt(ping).withTimeout(TIMEOUT_MS);
  }
}
