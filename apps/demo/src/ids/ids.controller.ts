import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { codecs } from '@raindrop/core';
import { IdService } from '@raindrop/nestjs';
import { ErrorBody } from '../http/error-body.js';
import { DecodedId, DecodeIdQuery, viewParsedId } from './decoded-id.js';
import { NewIds, NewIdsQuery } from './new-ids.js';

/** How long a request waits for IDs before it is told to come again. */
const WAIT = { timeoutMs: 5_000 };

@ApiTags('ids')
@Controller('v1/ids')
export class IdsController {
  constructor(private readonly ids: IdService) {}

  @Post()
  @ApiOperation({ summary: 'Issue IDs' })
  @ApiResponse({ status: 201, type: NewIds })
  @ApiResponse({ status: 400, type: ErrorBody })
  @ApiResponse({ status: 503, type: ErrorBody, description: 'No ID can be issued now; see Retry-After.' })
  async issue(@Query() { count, code, format }: NewIdsQuery): Promise<NewIds> {
    const ids = await this.ids.nextIdsAsync(count, code, WAIT);
    return { ids: ids.map(codecs[format].encode) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Take an ID apart' })
  @ApiParam({ name: 'id', type: String, example: '30094321512251394' })
  @ApiResponse({ status: 200, type: DecodedId })
  @ApiResponse({ status: 400, type: ErrorBody })
  decode(@Param('id') id: string, @Query() { format }: DecodeIdQuery): DecodedId {
    return viewParsedId(this.ids.parse(codecs[format].decode(id)));
  }
}
