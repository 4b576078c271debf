import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IdService } from '@raindrop/nestjs';
import { SnowflakeBetween, transactionWithRetries } from '@raindrop/nestjs/typeorm';
import { And, LessThan, Repository } from 'typeorm';
import type { CreateOrderDto } from './dto/create-order.dto.js';
import type { FindOrdersDto } from './dto/find-orders.dto.js';
import type { OrderDto, OrdersPageDto } from './dto/order.dto.js';
import { Order } from './order.entity.js';

@Injectable()
export class OrdersService {
  constructor(
    @InjectRepository(Order) private readonly orders: Repository<Order>,
    private readonly ids: IdService,
  ) {}

  /** The cascade saves the items too. On SQLite, TypeORM would nest transactions that run at once: these take turns. */
  async create({ customer, items }: CreateOrderDto): Promise<OrderDto> {
    const order = this.orders.create({ customer, items });
    return this.toDto(await transactionWithRetries(this.orders.manager.dataSource, (manager) => manager.save(order)));
  }

  async findOne(id: string): Promise<OrderDto> {
    const relations = { items: true };
    const order = await this.orders.findOne({ where: { id }, relations, order: { items: { id: 'ASC' } } });
    if (order === null) throw new NotFoundException(`There is no order ${id}`);
    return this.toDto(order);
  }

  /** The newest first. Time span and page are ranges of the primary key: every page costs the same. */
  async findPage({ after, from, to, limit = 20 }: FindOrdersDto): Promise<OrdersPageDto> {
    const inSpan = SnowflakeBetween(from ?? 0, to ?? Infinity);
    const found = await this.orders.find({
      where: { id: after === undefined ? inSpan : And(inSpan, LessThan(after)) },
      order: { id: 'DESC' },
      take: limit + 1, // One more than asked for tells whether there is a next page.
    });
    const page = found.slice(0, limit);
    return { orders: page.map((order) => this.toDto(order)), next: found.length > limit ? page.at(-1)!.id : null };
  }

  private toDto(order: Order): OrderDto {
    return { ...order, createdAt: this.ids.parse(order.id).time };
  }
}
