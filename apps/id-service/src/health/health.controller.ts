import {
  Catch,
  Controller,
  Get,
  ServiceUnavailableException,
  UseFilters,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  HealthCheck,
  HealthCheckService,
  HealthIndicatorService,
  type HealthCheckResult,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import { InjectIdService, type NumberService } from '@raindrop/nestjs';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import type { FastifyReply } from 'fastify';
import { DataSource } from 'typeorm';
import { Drain } from '../drain.js';
import { NUMBERS } from '../numbers/number-codes.js';

/** A bad report is an answer like a good one, and no problem: it says of each part how it is. */
@Catch(ServiceUnavailableException)
class HealthReportFilter implements ExceptionFilter<ServiceUnavailableException> {
  catch(error: ServiceUnavailableException, host: ArgumentsHost): void {
    void host.switchToHttp().getResponse<FastifyReply>().code(503).send(error.getResponse());
  }
}

const DATABASE_TIMEOUT_MS = 1_000;

@ApiTags('health')
@Controller('health')
@UseFilters(HealthReportFilter)
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly dataSource: DataSource,
    private readonly drain: Drain,
    private readonly raindrop: RaindropHealthIndicator,
    @InjectIdService(NUMBERS) private readonly numbers: NumberService,
  ) {}

  @Get()
  @HealthCheck()
  @ApiOperation({
    operationId: 'readHealth',
    summary: 'Whether the database, the IDs and the numbers all work',
  })
  check(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.database(),
      () => this.ids(),
      () => this.raindrop.isHealthy('numbers', this.numbers),
    ]);
  }

  @Get('live')
  @HealthCheck()
  @ApiOperation({
    operationId: 'readLiveness',
    summary: 'Liveness: whether the process answers, the only fault that a restart would cure',
  })
  live(): Promise<HealthCheckResult> {
    return this.health.check([]);
  }

  /** Not the database: IDs go on without it for most of a lease, and all replicas would leave together. */
  @Get('ready')
  @HealthCheck()
  @ApiOperation({
    operationId: 'readReadiness',
    summary: 'Whether IDs can be issued, and the service is not shutting down',
  })
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.ids(), () => this.shutdown()]);
  }

  /** Terminus's own indicator would show the driver's message to every client. */
  private database(): PromiseLike<HealthIndicatorResult<'database'>> {
    const ping = (): Promise<void> =>
      this.dataSource.query('SELECT 1').then(
        () => undefined,
        () => Promise.reject(new Error('the database does not answer')),
      );
    return this.indicators.check('database').attempt(ping).withTimeout(DATABASE_TIMEOUT_MS);
  }

  /** Down from the moment the service was told to end. */
  private shutdown(): HealthIndicatorResult<'shutdown'> {
    const session = this.indicators.check('shutdown');
    return this.drain.hasBegun ? session.down({ message: 'the service is shutting down' }) : session.up();
  }

  /** Without the worker id: a probe need not know which worker it is. */
  private ids(): HealthIndicatorResult<'raindrop'> {
    const { raindrop } = this.raindrop.isHealthy('raindrop');
    return { raindrop: { ...raindrop, workerId: undefined } };
  }
}
