import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ParseIdPipe } from '@raindrop/nestjs';
import { ApiSnowflakeParam } from '@raindrop/nestjs/swagger';
import { CreateOrderDto } from './dto/create-order.dto.js';
import { FindOrdersDto } from './dto/find-orders.dto.js';
import { OrderDto, OrdersPageDto } from './dto/order.dto.js';
import { OrdersService } from './orders.service.js';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  create(@Body() order: CreateOrderDto): Promise<OrderDto> {
    return this.orders.create(order);
  }

  @Get()
  findPage(@Query() query: FindOrdersDto): Promise<OrdersPageDto> {
    return this.orders.findPage(query);
  }

  @Get(':id')
  @ApiSnowflakeParam('id')
  findOne(@Param('id', ParseIdPipe) id: string): Promise<OrderDto> {
    return this.orders.findOne(id);
  }
}
