import { Body, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common';
import { IdService } from '@raindrop/nestjs';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Order } from './order.js';

@Controller()
export class OrdersController {
  constructor(
    private readonly ids: IdService,
    @InjectRepository(Order) private readonly orders: Repository<Order>,
  ) {}

  @Post('ids')
  issue(): { id: string } {
    return { id: this.ids.nextString('invoice') };
  }

  @Post('orders')
  save(@Body() order: { customer: string }): Promise<Order> {
    return this.orders.save(this.orders.create({ customer: order.customer }));
  }

  @Get('orders/:id')
  async find(@Param('id') id: string): Promise<Order> {
    const order = await this.orders.findOneBy({ id });
    if (order === null) throw new NotFoundException();
    return order;
  }
}
