import { Controller, Get, UseFilters } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, type HealthCheckResult, type HealthIndicatorResult } from '@nestjs/terminus';
import { IdService, InjectIdService } from '@raindrop/nestjs';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import { NUMBERS } from '../numbers/number-codes.js';
import { ApiHealthReport } from './api-health-report.js';
import { DatabaseHealthIndicator } from './database.health.js';
import { DrainHealthIndicator } from './drain.health.js';
import { HealthReportFilter } from './health-report.filter.js';

/** Described here; that no cache keeps a report is what is left of terminus's decorator. */
const UNCACHED = { noCache: true, swaggerDocumentation: false };

@ApiTags('health')
@Controller('health')
@UseFilters(HealthReportFilter)
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: DatabaseHealthIndicator,
    private readonly drain: DrainHealthIndicator,
    private readonly raindrop: RaindropHealthIndicator,
    @InjectIdService(NUMBERS) private readonly numbers: IdService,
  ) {}

  @Get()
  @HealthCheck(UNCACHED)
  @ApiOperation({
    operationId: 'readHealth',
    summary: 'Whether everything is well: the database, the IDs, the numbers',
  })
  @ApiHealthReport('database', 'raindrop', 'numbers')
  check(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.database.isHealthy('database'),
      () => this.ids(),
      () => this.raindrop.isHealthy('numbers', this.numbers),
    ]);
  }

  @Get('live')
  @HealthCheck(UNCACHED)
  @ApiOperation({
    operationId: 'readLiveness',
    summary: 'Whether the process answers: a restart would help against nothing else',
  })
  @ApiHealthReport()
  live(): Promise<HealthCheckResult> {
    return this.health.check([]);
  }

  /** Not the database: IDs go on without it for most of a lease, and all replicas would leave together. */
  @Get('ready')
  @HealthCheck(UNCACHED)
  @ApiOperation({
    operationId: 'readReadiness',
    summary: 'Whether IDs can be issued, and the service is not shutting down',
  })
  @ApiHealthReport('raindrop', 'shutdown')
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.ids(), () => this.drain.isHealthy('shutdown')]);
  }

  /** Without the worker id: who asks whether all is well need not know which worker it is. */
  private ids(): HealthIndicatorResult<'raindrop'> {
    const { raindrop } = this.raindrop.isHealthy('raindrop');
    return { raindrop: { ...raindrop, workerId: undefined } };
  }
}
