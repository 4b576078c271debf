import { Controller, Get, Param, Post } from '@nestjs/common';
import { IdService } from '@raindrop/nestjs';

@Controller('ids')
export class IdsController {
  constructor(private readonly ids: IdService) {}

  @Post()
  issue(): { id: string } {
    return { id: this.ids.nextString() };
  }

  /** What became of a text: the worker id in it, or the name of the error, which bundlers shorten in other classes. */
  @Get(':id')
  parse(@Param('id') id: string): { workerId: number } | { error: string } {
    try {
      return { workerId: this.ids.parse(id).workerId };
    } catch (error) {
      return { error: (error as Error).name };
    }
  }
}
