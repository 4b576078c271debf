import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { Drain } from '../drain.js';

/** Down from the moment the service was told to end. */
@Injectable()
export class DrainHealthIndicator {
  constructor(
    private readonly health: HealthIndicatorService,
    private readonly drain: Drain,
  ) {}

  isHealthy<const Key extends string>(key: Key): HealthIndicatorResult<Key> {
    const session = this.health.check(key);
    return this.drain.hasBegun ? session.down({ message: 'the service is shutting down' }) : session.up();
  }
}
