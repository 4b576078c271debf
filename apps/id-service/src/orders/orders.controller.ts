import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IdService } from '@raindrop/nestjs';
import { ApiSnowflakeParam } from '@raindrop/nestjs/swagger';
import { ApiBodyProblems, ApiCommonProblems, ApiKeyProblem, ApiProblem } from '../http/api-problem.js';
import { idPipe } from '../http/id-pipe.js';
import { ProblemException } from '../problems/problem.exception.js';
import { NewOrder } from './new-order.js';
import { OrderView, viewOrder } from './order-view.js';
import { OrdersPage, OrdersQuery } from './orders-page.js';
import { OrdersService } from './orders.service.js';

@ApiTags('orders')
@ApiCommonProblems()
@ApiProblem(503, 'DATABASE_UNAVAILABLE', 'The database does not answer. Try again in a moment.')
@Controller('v1/orders')
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly ids: IdService,
  ) {}

  @Post()
  @ApiOperation({
    operationId: 'createOrder',
    summary: 'Save an order and its items: @GeneratedSnowflake() fills their keys',
  })
  @ApiResponse({ status: 201, type: OrderView })
  @ApiProblem(400, 'INVALID_INPUT', 'customer must be a text of 1 to 100 characters, without control characters')
  @ApiBodyProblems()
  @ApiKeyProblem()
  async create(@Body() order: NewOrder): Promise<OrderView> {
    const saved = await this.orders.create(order);
    return viewOrder(saved, this.ids.parse(saved.id));
  }

  @Get()
  @ApiOperation({
    operationId: 'listOrders',
    summary: 'Read orders page by page, the newest first, of all times or of a range',
  })
  @ApiResponse({ status: 200, type: OrdersPage })
  @ApiKeyProblem()
  @ApiProblem(400, 'INVALID_INPUT', 'limit must be an integer from 1 to 100')
  async list(@Query() query: OrdersQuery): Promise<OrdersPage> {
    const { orders, next } = await this.orders.page(query);
    return { orders: orders.map((order) => viewOrder(order, this.ids.parse(order.id))), next };
  }

  @Get(':id')
  @ApiOperation({ operationId: 'readOrder', summary: 'Read an order' })
  @ApiSnowflakeParam()
  @ApiResponse({ status: 200, type: OrderView })
  @ApiProblem(400, 'INVALID_ID', 'id must be 1 to 19 characters of 0-9, none of them a leading 0')
  @ApiKeyProblem()
  @ApiProblem(404, 'ORDER_NOT_FOUND', 'There is no order 12345.')
  async find(@Param('id', idPipe()) id: string): Promise<OrderView> {
    const order = await this.orders.find(id);
    if (order !== null) return viewOrder(order, this.ids.parse(id));
    throw new ProblemException(404, { errorCode: 'ORDER_NOT_FOUND', detail: `There is no order ${id}.` });
  }
}
