import { Body, Controller, Get, NotFoundException, Param, Post, SerializeOptions } from '@nestjs/common';
import { eq } from 'drizzle-orm';
import { type Database, InjectDatabase } from './database.js';
import { NewOrder, type Order, OrderId, orders, OrderView } from './orders.js';

@Controller('orders')
@SerializeOptions({ schema: OrderView })
export class OrdersController {
  constructor(@InjectDatabase() private readonly database: Database) {}

  @Post()
  place(@Body({ schema: NewOrder }) order: NewOrder): Order {
    return this.database.insert(orders).values(order).returning().get();
  }

  @Get(':id')
  find(@Param('id', { schema: OrderId }) id: string): Order {
    const order = this.database.select().from(orders).where(eq(orders.id, id)).get();
    if (order === undefined) throw new NotFoundException();
    return order;
  }
}
