import { BadRequestException, Body, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common';
import { ParseIdPipe } from '@raindrop/nestjs';
import { eq } from 'drizzle-orm';
import { type Database, InjectDatabase } from './database.js';
import { type Order, orders } from './orders.js';

@Controller('orders')
export class OrdersController {
  constructor(@InjectDatabase() private readonly database: Database) {}

  @Post()
  place(@Body('customer') customer: unknown): Order {
    if (typeof customer !== 'string') throw new BadRequestException('customer must be a text');
    return this.database.insert(orders).values({ customer }).returning().get();
  }

  @Get(':id')
  find(@Param('id', ParseIdPipe) id: string): Order {
    const order = this.database.select().from(orders).where(eq(orders.id, id)).get();
    if (order === undefined) throw new NotFoundException();
    return order;
  }
}
