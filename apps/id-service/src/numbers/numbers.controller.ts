import { Body, Controller, Param, Post, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IdService, InjectIdService } from '@raindrop/nestjs';
import type { FastifyRequest } from 'fastify';
import { ApiBodyProblems, ApiCommonProblems, ApiKeyProblem, ApiProblem } from '../http/api-problem.js';
import { keyIn } from '../http/api-keys.js';
import { clientAddress } from '../connections/client-address.js';
import { StrangersNames } from '../http/new-names.js';
import { IdsUnderWay } from '../ids/ids-under-way.js';
import { BusinessNumber, NewBusinessNumber } from './new-business-number.js';
import { NewNumbers, NumbersPath, NumbersQuery } from './new-numbers.js';
import { NewShardedId, ShardedId } from './new-sharded-id.js';
import { BusinessNumbersService } from './business-numbers.service.js';
import { NUMBERS } from './number-codes.js';

/** How long a request waits for numbers before it is told to come again. */
const WAIT = { timeoutMs: 4_000 };

@ApiTags('numbers')
@ApiCommonProblems()
@Controller('v1')
export class NumbersController {
  constructor(
    @InjectIdService(NUMBERS) private readonly ids: IdService,
    private readonly businessNumbers: BusinessNumbersService,
    private readonly underWay: IdsUnderWay,
    private readonly names: StrangersNames,
  ) {}

  @Post('numbers/:code')
  @ApiOperation({ operationId: 'issueNumbers', summary: 'Issue dense numbers: 1, 2, 3, from segments' })
  @ApiResponse({ status: 201, type: NewNumbers })
  @ApiProblem(400, 'INVALID_INPUT', 'code must be one of order, invoice, ticket')
  @ApiKeyProblem()
  @ApiProblem(503, 'SEGMENT_STORE_UNAVAILABLE', 'No ID can be issued right now. Try again in a moment.')
  async issue(@Param() { code }: NumbersPath, @Query() { count }: NumbersQuery): Promise<NewNumbers> {
    const numbers = await this.underWay.during(count, () => this.ids.nextStringsAsync(count, code, WAIT));
    return { numbers };
  }

  @Post('sharded-ids')
  @ApiOperation({ operationId: 'issueShardedId', summary: 'Issue a number for the public, whose steps are blurred' })
  @ApiResponse({ status: 201, type: ShardedId })
  @ApiProblem(400, 'INVALID_INPUT', 'app must be an integer from 0 to 255')
  @ApiBodyProblems()
  @ApiKeyProblem()
  @ApiProblem(404, 'UNKNOWN_APP', 'There is no app 7: registerApp(7, name) makes it known.', {
    fields: { app: 7, legacyCode: -2 },
  })
  @ApiProblem(503, 'NO_SHARDED_ID_LEFT', 'No ID can be issued right now. Try again in a moment.')
  async issueSharded(@Body() request: NewShardedId): Promise<ShardedId> {
    return { id: String(await this.ids.nextShardedAsync(request, WAIT)) };
  }

  @Post('business-numbers')
  @ApiOperation({ operationId: 'issueBusinessNumber', summary: 'Issue a number without gaps, such as INV-2026-000001' })
  @ApiResponse({ status: 201, type: BusinessNumber })
  @ApiProblem(400, 'INVALID_INPUT', 'series must be one of invoice, credit-note')
  @ApiBodyProblems()
  @ApiKeyProblem()
  @ApiProblem(503, 'DATABASE_UNAVAILABLE', 'The database does not answer. Try again in a moment.')
  async issueBusinessNumber(
    @Body() { series, tenant }: NewBusinessNumber,
    @Req() request: FastifyRequest,
  ): Promise<BusinessNumber> {
    const bringer = { key: keyIn(request.headers), address: () => clientAddress(request) };
    this.names.admitTenant(tenant, bringer);
    return { number: await this.businessNumbers.next(series, tenant) };
  }
}
