import { BadRequestException, Body, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common';
import { type TypedId, ParseIdPipe } from '@raindrop/nestjs';
import type { Order } from './order.entity.js';
import { OrdersService } from './orders.service.js';
import { Tenant } from './tenant.decorator.js';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  place(@Tenant() tenant: string, @Body('customer') customer: unknown): Promise<Order> {
    if (typeof customer !== 'string') throw new BadRequestException('customer must be a text');
    return this.orders.place(tenant, customer);
  }

  /** The tenant is asked for as well as the ID: an ID is no secret and no permission. */
  @Get(':id')
  async find(
    @Tenant() tenant: string,
    @Param('id', new ParseIdPipe({ prefix: 'order' })) id: TypedId<'order'>,
  ): Promise<Order> {
    const order = await this.orders.find(tenant, id);
    if (order === null) throw new NotFoundException();
    return order;
  }
}
