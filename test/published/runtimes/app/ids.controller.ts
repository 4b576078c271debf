import { Controller, Get, Param, Post } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { IdService } from '@raindrop/nestjs';
import { DataSource } from 'typeorm';
import { Order } from './order.js';

@Controller('ids')
export class IdsController {
  constructor(
    private readonly ids: IdService,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  @Post()
  issue(): { id: string } {
    return { id: this.ids.nextString() };
  }

  /** The ID that an entity got, as the database has it. */
  @Post('orders')
  async save(): Promise<{ id: string }> {
    const orders = this.dataSource.getRepository(Order);
    const { id } = await orders.save(orders.create({ customer: 'Ada' }));
    return { id: (await orders.findOneByOrFail({ id })).id };
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
