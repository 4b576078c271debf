import {
  BadRequestException,
  Controller,
  DefaultValuePipe,
  Get,
  Param,
  ParseIntPipe,
  Post,
  Query,
} from '@nestjs/common';
import { type ParsedId, IdService, ParseIdPipe } from '@raindrop/nestjs';

const MAX_COUNT = 10_000;

@Controller('ids')
export class IdsController {
  constructor(private readonly ids: IdService) {}

  @Post()
  issue(@Query('count', new DefaultValuePipe(1), ParseIntPipe) count: number): string[] {
    if (count < 1 || count > MAX_COUNT) throw new BadRequestException(`count must be from 1 to ${MAX_COUNT}`);
    return this.ids.nextStrings(count);
  }

  /** Worker and end bits of any ID, also one of the other data centre. */
  @Get(':id')
  parse(@Param('id', ParseIdPipe) id: string): Pick<ParsedId, 'time' | 'workerId' | 'endBits'> {
    const { time, workerId, endBits } = this.ids.parse(id);
    return { time, workerId, endBits };
  }
}
