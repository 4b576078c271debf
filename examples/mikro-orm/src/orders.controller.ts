import { EntityManager, UniqueConstraintViolationException } from '@mikro-orm/sqlite';
import {
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  Get,
  NotFoundException,
  Param,
  Post,
} from '@nestjs/common';
import { ParseIdPipe } from '@raindrop/nestjs';
import { Order } from './order.entity.js';

interface NewOrder {
  readonly reference: string;
  readonly customer: string;
}

/** The members of an order that are known, from what a client has sent. */
function asNewOrder(body: unknown): NewOrder {
  const { reference, customer } = (body ?? {}) as Record<string, unknown>;
  if (typeof reference !== 'string' || typeof customer !== 'string') {
    throw new BadRequestException('reference and customer must be texts');
  }
  return { reference, customer };
}

/** @throws ConflictException when another order has the reference; otherwise the error itself */
function refuseTaken(error: unknown): never {
  if (error instanceof UniqueConstraintViolationException) throw new ConflictException('the reference is taken');
  throw error;
}

@Controller('orders')
export class OrdersController {
  constructor(private readonly em: EntityManager) {}

  /** The ID is there before the insert. */
  @Post()
  async place(@Body() order: unknown): Promise<Order> {
    const placed = this.em.create(Order, asNewOrder(order));
    await this.em.flush().catch(refuseTaken);
    return placed;
  }

  /** One statement, past entities. */
  @Post('many')
  placeMany(@Body() orders: unknown): Promise<string[]> {
    if (!Array.isArray(orders)) throw new BadRequestException('orders must be a list');
    return this.em.insertMany(Order, orders.map(asNewOrder)).catch(refuseTaken);
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
