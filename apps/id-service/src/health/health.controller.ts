import {
  applyDecorators,
  Catch,
  Controller,
  Get,
  ServiceUnavailableException,
  UseFilters,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiProperty, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import {
  HealthCheck,
  HealthCheckService,
  HealthIndicatorService,
  type HealthCheckResult,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import { IdService, InjectIdService } from '@raindrop/nestjs';
import { RaindropHealthIndicator } from '@raindrop/nestjs/terminus';
import type { FastifyReply } from 'fastify';
import { DataSource } from 'typeorm';
import { Drain } from '../drain.js';
import { NUMBERS } from '../numbers/number-codes.js';

/** A part and what it says of itself; its further members depend on the part. */
const PART = {
  type: 'object' as const,
  required: ['status'],
  properties: { status: { type: 'string', enum: ['up', 'down', 'degraded'] } },
  additionalProperties: true,
};

const PARTS = { type: 'object' as const, additionalProperties: PART };

/** Terminus's report. */
class HealthReport {
  @ApiProperty({ enum: ['ok', 'error', 'shutting_down'], example: 'ok' })
  readonly status!: string;

  @ApiProperty({ ...PARTS, description: 'The parts that are well.', example: {} })
  readonly info!: object;

  @ApiProperty({ ...PARTS, description: 'The parts that are not.', example: {} })
  readonly error!: object;

  @ApiProperty({ ...PARTS, description: 'All of them.', example: {} })
  readonly details!: object;
}

/** Documents terminus's report on these parts. */
function ApiHealthReport(...parts: readonly string[]): MethodDecorator {
  const states = (status: string, names = parts): object => Object.fromEntries(names.map((name) => [name, { status }]));
  const [first, ...rest] = parts;
  const good = { status: 'ok', info: states('up'), error: {}, details: states('up') };
  const documented = [reported(200, 'All is well.', good)];
  if (first !== undefined) {
    const [info, error] = [states('up', rest), states('down', [first])];
    const bad = { status: 'error', info, error, details: { ...error, ...info } };
    documented.push(reported(503, 'Something is not; `error` says what.', bad));
  }
  return applyDecorators(...documented);
}

function reported(status: number, description: string, example: object): MethodDecorator {
  const schema = { $ref: getSchemaPath(HealthReport) };
  return applyDecorators(
    ApiExtraModels(HealthReport),
    ApiResponse({ status, description, content: { 'application/json': { schema, example } } }),
  );
}

/** A bad report is an answer like a good one, and no problem: it says of each part how it is. */
@Catch(ServiceUnavailableException)
class HealthReportFilter implements ExceptionFilter<ServiceUnavailableException> {
  catch(error: ServiceUnavailableException, host: ArgumentsHost): void {
    void host.switchToHttp().getResponse<FastifyReply>().code(503).send(error.getResponse());
  }
}

const DATABASE_TIMEOUT_MS = 1_000;

/** Described here; that no cache keeps a report is what is left of terminus's decorator. */
const UNCACHED = { noCache: true, swaggerDocumentation: false };

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
      () => this.database(),
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
