import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { SnowflakeBetween, transactionWithRetries } from '@raindrop/nestjs/typeorm';
import { And, In, LessThan, Repository, type FindOptionsWhere } from 'typeorm';
import { readMoment } from '../http/is-moment.js';
import { MOST_ITEMS, type NewOrder } from './new-order.js';
import { Order, OrderItem } from '../database/order.entity.js';
import type { OrdersQuery } from './orders-page.js';

/** Of all orders of a page together; so many are read and answered in some milliseconds. */
const ITEMS_OF_A_PAGE = 5 * MOST_ITEMS;

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
   * into `after` to read on, and is null at the end. A page ends before the order whose items would be too many for it.
   */
  async page({ limit, ...range }: OrdersQuery): Promise<{ orders: Order[]; next: string | null }> {
    // One more than asked for tells whether there are more.
    const found = await this.orders.find({ where: within(range), order: { id: 'DESC' }, take: limit + 1 });
    const orders = await this.withItems(found.slice(0, limit));
    return { orders, next: found.length > orders.length ? orders.at(-1)!.id : null };
  }

  /**
   * As many of the orders as have no more than {@link ITEMS_OF_A_PAGE} together, with their items; one at least.
   *
   * Not by `relations`: 'query' compares each order with every item of the page, and both strategies read all items of
   * however many orders were asked for.
   */
  private async withItems(orders: readonly Order[]): Promise<Order[]> {
    const found = await this.orders.manager.find(OrderItem, {
      where: { orderId: In(orders.map(({ id }) => id)) },
      order: { orderId: 'DESC' },
      take: ITEMS_OF_A_PAGE + 1,
    });
    // The last one that was met may have more of them.
    const cut = found.length > ITEMS_OF_A_PAGE ? orders.findIndex(({ id }) => id === found.at(-1)!.orderId) : undefined;
    const whole = orders.slice(0, cut === undefined ? undefined : Math.max(cut, 1));
    const itemsOf = new Map(whole.map((order) => [order.id, (order.items = [])] as [string, OrderItem[]]));
    for (const item of found) itemsOf.get(item.orderId)?.push(item);
    return whole;
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
