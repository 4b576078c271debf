import { Body, Controller, Get, NotFoundException, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IdService } from '@raindrop/nestjs';
import { ApiSnowflakeParam } from '@raindrop/nestjs/swagger';
import { ErrorBody } from '../http/error-body.js';
import { idPipe } from '../http/id-pipe.js';
import { NewOrder } from './new-order.js';
import { OrderView, viewOrder } from './order-view.js';
import { OrdersPage, OrdersQuery } from './orders-page.js';
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

  @Get()
  @ApiOperation({ summary: 'Read orders page by page, the newest first' })
  @ApiResponse({ status: 200, type: OrdersPage })
  @ApiResponse({ status: 400, type: ErrorBody })
  async list(@Query() { limit, after }: OrdersQuery): Promise<OrdersPage> {
    const { orders, next } = await this.orders.page(limit, after);
    return { orders: orders.map((order) => viewOrder(order, this.ids.parse(order.id))), next };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read an order' })
  @ApiSnowflakeParam()
  @ApiResponse({ status: 200, type: OrderView })
  @ApiResponse({ status: 400, type: ErrorBody })
  @ApiResponse({ status: 404, type: ErrorBody })
  async find(@Param('id', idPipe()) id: string): Promise<OrderView> {
    const order = await this.orders.find(id);
    if (order !== null) return viewOrder(order, this.ids.parse(id));
    throw new NotFoundException({ statusCode: 404, errorCode: 'ORDER_NOT_FOUND', message: `There is no order ${id}.` });
  }
}
