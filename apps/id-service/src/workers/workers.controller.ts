import { Controller, Get, Header, Req } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  ApiSecurity,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { WorkersView } from '@raindrop/nestjs';
import type { FastifyRequest } from 'fastify';
import { ApiKeys } from '../http/api-keys.js';
import { ApiCommonProblems, ApiProblem, KEY_NOT_ALLOWED, KEY_REQUIRED } from '../http/api-problem.js';
import { ProblemException } from '../problems/problem.exception.js';
import { exampleWorkers } from './example-workers.js';
import { WorkersAnswer } from './workers-answer.js';
import { WorkersService } from './workers.service.js';

const OFF =
  'The workers are not shown: the service was started without API_KEYS or WORKERS_API_KEYS, and not for this host alone.';

@ApiTags('ids')
@ApiCommonProblems()
@ApiExtraModels(WorkersAnswer)
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
    summary: 'Who holds which worker id, how long the lease lasts, how far the odometers are',
  })
  @ApiResponse({
    status: 200,
    description: 'Every row of the worker table, by id.',
    content: { 'application/json': { schema: { $ref: getSchemaPath(WorkersAnswer) }, example: exampleWorkers } },
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
