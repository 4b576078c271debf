import { Body, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { parseDecimal } from '@raindrop/core';
import { IdService } from '@raindrop/nestjs';
import { ErrorBody } from '../http/error-body.js';
import { NewOrder } from './new-order.js';
import { OrderView, viewOrder } from './order-view.js';
import { OrdersService } from './orders.service.js';

@ApiTags('orders')
@Controller('v1/orders')
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly ids: IdService,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Save an order and its items: @GeneratedSnowflake() fills their keys' })
  @ApiResponse({ status: 201, type: OrderView })
  @ApiResponse({ status: 400, type: ErrorBody })
  async create(@Body() order: NewOrder): Promise<OrderView> {
    const saved = await this.orders.create(order);
    return viewOrder(saved, this.ids.parse(saved.id));
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read an order' })
  @ApiParam({ name: 'id', type: String, example: '30094321512251392' })
  @ApiResponse({ status: 200, type: OrderView })
  @ApiResponse({ status: 400, type: ErrorBody })
  @ApiResponse({ status: 404, type: ErrorBody })
  async find(@Param('id') text: string): Promise<OrderView> {
    const id = parseDecimal(text).toString();
    const order = await this.orders.find(id);
    if (order !== null) return viewOrder(order, this.ids.parse(id));
    throw new NotFoundException({ statusCode: 404, errorCode: 'ORDER_NOT_FOUND', message: `There is no order ${id}.` });
  }
}
