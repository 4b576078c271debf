import { Controller, Get, Header, Req } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiProperty, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { WorkersView, WorkerState } from '@raindrop/nestjs';
import type { FastifyRequest } from 'fastify';
import { ApiKeys } from '../http/api-keys.js';
import { ApiCommonProblems, ApiProblem, KEY_NOT_ALLOWED, KEY_REQUIRED } from '../http/api-problem.js';
import { examplePlan } from '../layouts/layouts.js';
import { ProblemException } from '../problems/problem.js';
import { WorkersService } from './workers.service.js';

const STATES: readonly WorkerState[] = ['held', 'free', 'expired', 'foreign', 'used-up', 'deleted', 'database'];

/** How far a lane was granted. */
class OdometerAnswer {
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T08:16:35.000Z' })
  readonly time!: string | null;

  @ApiProperty({ type: 'integer', example: 262_143 })
  readonly sequence!: number;
}

/** A row of the worker table. */
class WorkerAnswer {
  @ApiProperty({ type: 'integer', example: 17 })
  readonly workerId!: number;

  @ApiProperty({ enum: STATES, example: 'held' })
  readonly state!: WorkerState;

  @ApiProperty({
    example: 'orders-5d9c7:1:a3f81b',
    description: "The process that has it, or had it last; '' for none.",
  })
  readonly holder!: string;

  @ApiProperty({ type: Number, nullable: true, example: 52_110, description: 'Null when it is not held.' })
  readonly leaseLeftMs!: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    example: 112_110,
    description: 'The time from which others may take it.',
  })
  readonly graceLeftMs!: number | null;

  @ApiProperty({ enum: [0, 1], example: 0 })
  readonly lane!: number;

  @ApiProperty({
    type: [OdometerAnswer],
    minItems: 2,
    maxItems: 2,
    description: 'Of both lanes.',
    example: [
      { time: '2026-11-21T08:16:35.000Z', sequence: 262_143 },
      { time: null, sequence: 0 },
    ],
  })
  readonly odometers!: OdometerAnswer[];

  @ApiProperty({ example: examplePlan.fingerprint, description: "The last holder's; '' if it was never used." })
  readonly layout!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-11-21T08:15:22.000Z' })
  readonly heartbeat!: string | null;
}

/** The answer of GET /v1/workers: `WorkersView` in JSON. */
class WorkersAnswer {
  @ApiProperty({ example: 1_795_248_930_123, description: "By the database's clock, Unix ms." })
  readonly nowMs!: number;

  @ApiProperty({ type: [WorkerAnswer] })
  readonly workers!: WorkerAnswer[];
}

const OFF = 'The workers are hidden: the service has no API_KEYS or WORKERS_API_KEYS, and serves more than this host.';

@ApiTags('ids')
@ApiCommonProblems()
@Controller('v1/workers')
export class WorkersController {
  constructor(
    private readonly workers: WorkersService,
    private readonly keys: ApiKeys,
  ) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiBearerAuth()
  @ApiSecurity('key')
  @ApiOperation({
    operationId: 'listWorkers',
    summary: 'Holders, leases and odometers of all worker ids',
  })
  @ApiResponse({
    status: 200,
    description: 'Every row of the worker table, by id.',
    type: WorkersAnswer,
  })
  @ApiProblem(401, 'API_KEY_REQUIRED', KEY_REQUIRED)
  @ApiProblem(403, 'API_KEY_NOT_ALLOWED', KEY_NOT_ALLOWED, {
    description: 'With WORKERS_API_KEYS: the key is one of API_KEYS.',
  })
  @ApiProblem(404, 'WORKERS_NOT_SHOWN', OFF)
  @ApiProblem(503, 'DATABASE_CALL_FAILED', 'The database does not answer. Try again in a moment.')
  read(@Req() { headers }: FastifyRequest): Promise<WorkersView> {
    if (this.keys.areNotNeededBy(headers)) return this.workers.read();
    if (!this.keys.areConfigured) throw new ProblemException(404, { errorCode: 'WORKERS_NOT_SHOWN', detail: OFF });
    this.keys.demandForWorkers(headers);
    return this.workers.read();
  }
}
