import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { IdService, InjectIdService } from '@raindrop/nestjs';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import { NUMBERS } from '../numbers/number-codes.js';
import { DatabaseHealthIndicator } from './database.health.js';

@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: DatabaseHealthIndicator,
    private readonly raindrop: RaindropHealthIndicator,
    @InjectIdService(NUMBERS) private readonly numbers: IdService,
  ) {}

  /** 503 when the database does not answer or no IDs can be issued. */
  @Get()
  @ApiOperation({ summary: 'Whether the database answers and IDs can be issued' })
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.database.check('database'),
      () => this.raindrop.check('raindrop'),
      () => this.raindrop.check('numbers', this.numbers),
    ]);
  }
}
