import { Body, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common';
import { ParseIdPipe } from '@raindrop/nestjs';
import { type Database, InjectDatabase } from './database.js';

interface Order {
  id: string;
  customer: string;
  lines: { id: string; name: string }[];
}

const withLines = { customer: true, id: true, lines: { select: { id: true, name: true } } } as const;

@Controller('orders')
export class OrdersController {
  constructor(@InjectDatabase() private readonly database: Database) {}

  @Post()
  place(@Body('customer') customer: string, @Body('lines') lines: string[] = []): Promise<Order> {
    return this.database.order.create({
      data: { customer, lines: { create: lines.map((name) => ({ name })) } },
      select: withLines,
    });
  }

  @Get(':id')
  async find(@Param('id', ParseIdPipe) id: string): Promise<Order> {
    const order = await this.database.order.findUnique({ where: { id: BigInt(id) }, select: withLines });
    if (order === null) throw new NotFoundException();
    return order;
  }
}
