import { BadRequestException, Body, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common';
import { ParseIdPipe } from '@raindrop/nestjs';
import { type Database, InjectDatabase } from './database.js';

interface Order {
  id: string;
  customer: string;
  lines: { id: string; name: string }[];
}

const withLines = { customer: true, id: true, lines: { select: { id: true, name: true } } } as const;

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

@Controller('orders')
export class OrdersController {
  constructor(@InjectDatabase() private readonly database: Database) {}

  @Post()
  place(@Body('customer') customer: unknown, @Body('lines') lines: unknown = []): Promise<Order> {
    if (typeof customer !== 'string' || !isTexts(lines)) {
      throw new BadRequestException('customer must be a text, and lines a list of texts');
    }
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
