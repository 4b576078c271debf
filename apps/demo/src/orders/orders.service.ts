import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { SnowflakeBetween, transactionWithRetries } from '@raindrop/nestjs/typeorm';
import { And, LessThan, Repository, type FindOptionsWhere } from 'typeorm';
import { readMoment } from '../http/is-moment.js';
import type { NewOrder } from './new-order.js';
import { Order } from '../database/order.entity.js';
import type { OrdersQuery } from './orders-page.js';

@Injectable()
export class OrdersService {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  /** Saves an order with its items in one transaction; all of them get their IDs on the way. */
  create({ customer, items }: NewOrder): Promise<Order> {
    const order = this.orders.create({ customer, items: items.map(({ sku, quantity }) => ({ sku, quantity })) });
    return transactionWithRetries(this.orders.manager.dataSource, (manager) => manager.save(order));
  }

  find(id: string): Promise<Order | null> {
    return this.orders.findOne({ where: { id }, relations: { items: true } });
  }

  /**
   * Orders, the newest first; with `after` those that come after the one with that ID, which need not exist. `next` goes
   * into `after` to read on, and is null at the end.
   */
  async page({ limit, ...range }: OrdersQuery): Promise<{ orders: Order[]; next: string | null }> {
    const found = await this.orders.find({
      where: within(range),
      order: { id: 'DESC' },
      // One more than asked for tells whether there are more.
      take: limit + 1,
      relations: { items: true },
      relationLoadStrategy: 'query',
    });
    const orders = found.slice(0, limit);
    return { orders, next: found.length > limit ? orders.at(-1)!.id : null };
  }
}

/** Both ends are whole seconds; clamped to the layout's life. */
function within({ after, from, to }: Omit<OrdersQuery, 'limit'>): FindOptionsWhere<Order> {
  const conditions = [
    ...(after === undefined ? [] : [LessThan(after)]),
    ...(from === undefined && to === undefined
      ? []
      : [SnowflakeBetween(momentOf(from) ?? 0, momentOf(to) ?? Infinity)]),
  ];
  return conditions.length === 0 ? {} : { id: And(...conditions) };
}

function momentOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readMoment(text);
}
