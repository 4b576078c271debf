import { EntityManager } from '@mikro-orm/sqlite';
import { Body, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common';
import { ParseIdPipe } from '@raindrop/nestjs';
import { Order } from './order.entity.js';

interface NewOrder {
  readonly reference: string;
  readonly customer: string;
}

@Controller('orders')
export class OrdersController {
  constructor(private readonly em: EntityManager) {}

  /** The ID is there before the insert. */
  @Post()
  async place(@Body() order: NewOrder): Promise<Order> {
    const placed = this.em.create(Order, order);
    await this.em.flush();
    return placed;
  }

  /** One statement, past entities. */
  @Post('many')
  placeMany(@Body() orders: NewOrder[]): Promise<string[]> {
    return this.em.insertMany(Order, orders);
  }

  @Get()
  findAll(): Promise<Order[]> {
    return this.em.findAll(Order, { orderBy: { reference: 'asc' } });
  }

  @Get(':id')
  async find(@Param('id', new ParseIdPipe()) id: string): Promise<Order> {
    const order = await this.em.findOne(Order, id);
    if (order === null) throw new NotFoundException();
    return order;
  }
}
