import { Body, Controller, Param, Post, Query, Req, type OnModuleInit } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiPropertyOptional, ApiResponse, ApiTags } from '@nestjs/swagger';
import { InjectIdService, type NumberService } from '@raindrop/nestjs';
import { businessNumber, prepareBusinessNumbers, transactionWithRetries } from '@raindrop/nestjs/typeorm';
import { IsIn, IsInt, IsOptional, IsString, Length, Matches, Max, Min } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { DataSource } from 'typeorm';
import { ApiBodyProblems, ApiCommonProblems, ApiKeyProblem, ApiProblem } from '../http/api-problem.js';
import { keyIn } from '../http/api-keys.js';
import { clientAddress } from '../http/client-address.js';
import { COUNT_RANGES } from '../http/counts.js';
import { QueryCount } from '../http/inputs.js';
import { StrangersNames } from '../http/new-names.js';
import { IdsUnderWay } from '../ids/ids-under-way.js';
import { NUMBER_CODES, NUMBERS, type NumberCode } from './number-codes.js';

/** How long a request waits for numbers before it is told to come again. */
const WAIT = { timeoutMs: 4_000 };

const COUNT = COUNT_RANGES['/v1/numbers/:code'];

/** The path of POST /v1/numbers/:code. */
class NumbersPath {
  @ApiProperty({ enum: NUMBER_CODES, example: 'invoice', description: 'The business kind to count.' })
  @IsIn(NUMBER_CODES, { message: `code must be one of ${NUMBER_CODES.join(', ')}` })
  readonly code!: NumberCode;
}

/** Its query. */
class NumbersQuery {
  @QueryCount(COUNT)
  readonly count: number = COUNT.default;
}

/** The answer. */
class NewNumbers {
  @ApiProperty({ type: [String], example: ['1', '2'] })
  readonly numbers!: string[];
}

const APP = { message: 'app must be an integer from 0 to 255' };
const GATE_PASS = { message: 'gatePass must be a string of 1 to 512 characters' };

/** The body of POST /v1/sharded-ids. */
class NewShardedId {
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 255, example: 1, description: 'A registered app.' })
  @IsInt(APP)
  @Min(0, APP)
  @Max(255, APP)
  readonly app!: number;

  @ApiProperty({
    example: '13900139000',
    minLength: 1,
    maxLength: 512,
    description: "The caller's name, which " + 'chooses the shard.',
  })
  @IsString(GATE_PASS)
  @Length(1, 512, GATE_PASS)
  readonly gatePass!: string;
}

/** The answer. */
class ShardedId {
  @ApiProperty({ example: '28673' })
  readonly id!: string;
}

/** How the numbers of each series look; both begin anew with the year. */
const SERIES = { invoice: 'INV-{yyyy}-{seq:6}', 'credit-note': 'CN-{yyyy}-{seq:6}' } as const;

const NAMES = Object.keys(SERIES) as (keyof typeof SERIES)[];

/** The body of POST /v1/business-numbers. */
class NewBusinessNumber {
  @ApiProperty({ enum: NAMES, example: 'invoice' })
  @IsIn(NAMES, { message: `series must be one of ${NAMES.join(', ')}` })
  readonly series!: keyof typeof SERIES;

  @ApiPropertyOptional({
    example: 'acme',
    minLength: 1,
    maxLength: 64,
    description: 'A tenant, with its own numbers.',
  })
  @IsOptional()
  @Matches(/^[\w.-]{1,64}$/, { message: 'tenant must be a string of 1 to 64 letters, digits or any of . _ -' })
  readonly tenant?: string;
}

/** The answer. */
class BusinessNumber {
  @ApiProperty({ example: 'INV-2026-000001' })
  readonly number!: string;
}

@ApiTags('numbers')
@ApiCommonProblems()
@Controller('v1')
export class NumbersController implements OnModuleInit {
  constructor(
    @InjectIdService(NUMBERS) private readonly ids: NumberService,
    private readonly dataSource: DataSource,
    private readonly underWay: IdsUnderWay,
    private readonly names: StrangersNames,
  ) {}

  async onModuleInit(): Promise<void> {
    await prepareBusinessNumbers(this.dataSource);
  }

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
  @ApiOperation({ operationId: 'issueShardedId', summary: 'Issue a number for the public, with irregular steps' })
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
    this.names.admitTenant(tenant, { key: keyIn(request.headers), address: () => clientAddress(request) });
    const options = { name: series, resetBy: 'year', ...(tenant !== undefined && { per: tenant }) } as const;
    // In an application the invoice would be saved in the same transaction.
    const number = await transactionWithRetries(this.dataSource, (manager) =>
      businessNumber(manager, SERIES[series], options),
    );
    return { number };
  }
}
