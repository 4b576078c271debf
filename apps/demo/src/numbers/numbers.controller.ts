import { Body, Controller, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IdService, InjectIdService } from '@raindrop/nestjs';
import { ErrorBody } from '../http/error-body.js';
import { BusinessNumber, NewBusinessNumber } from './new-business-number.js';
import { NewNumbers, NumbersPath, NumbersQuery } from './new-numbers.js';
import { NewShardedId, ShardedId } from './new-sharded-id.js';
import { BusinessNumbersService } from './business-numbers.service.js';
import { NUMBERS } from './number-codes.js';

/** How long a request waits for numbers before it is told to come again. */
const WAIT = { timeoutMs: 5_000 };

@ApiTags('numbers')
@Controller('v1')
export class NumbersController {
  constructor(
    @InjectIdService(NUMBERS) private readonly ids: IdService,
    private readonly businessNumbers: BusinessNumbersService,
  ) {}

  @Post('numbers/:code')
  @ApiOperation({ summary: 'Issue dense numbers: 1, 2, 3, from segments' })
  @ApiResponse({ status: 201, type: NewNumbers })
  @ApiResponse({ status: 400, type: ErrorBody })
  @ApiResponse({ status: 503, type: ErrorBody, description: 'No number is to be had now; see Retry-After.' })
  async issue(@Param() { code }: NumbersPath, @Query() { count }: NumbersQuery): Promise<NewNumbers> {
    return { numbers: await this.ids.nextStringsAsync(count, code, WAIT) };
  }

  @Post('sharded-ids')
  @ApiOperation({ summary: 'Issue a number for the public, whose steps are blurred' })
  @ApiResponse({ status: 201, type: ShardedId })
  @ApiResponse({ status: 400, type: ErrorBody })
  @ApiResponse({ status: 404, type: ErrorBody, description: 'The app is not registered.' })
  async issueSharded(@Body() request: NewShardedId): Promise<ShardedId> {
    return { id: String(await this.ids.nextAsync(request, WAIT)) };
  }

  @Post('business-numbers')
  @ApiOperation({ summary: 'Issue a number without gaps, such as INV-2026-000001' })
  @ApiResponse({ status: 201, type: BusinessNumber })
  @ApiResponse({ status: 400, type: ErrorBody })
  async issueBusinessNumber(@Body() { series, tenant }: NewBusinessNumber): Promise<BusinessNumber> {
    return { number: await this.businessNumbers.next(series, tenant) };
  }
}
