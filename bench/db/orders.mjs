// The table: an order, with the key that is asked for.
import { Column, Entity } from 'typeorm';

export function orderEntity(key, moment) {
  class Order {}
  const { prototype } = Order;
  key(prototype, 'id');
  Column({ type: 'varchar', length: 64 })(prototype, 'customer');
  Column({ type: 'int' })(prototype, 'quantity');
  Column({ type: 'decimal', precision: 10, scale: 2 })(prototype, 'amount');
  Column({ ...moment, name: 'created_at' })(prototype, 'createdAt');
  Entity('orders')(Order);
  return Order;
}

/** The same orders for every kind of key. */
export function newOrders(first, count, createdAt, newId) {
  return Array.from({ length: count }, (_, index) => {
    const row = first + index;
    const order = {
      customer: `customer-${(row * 7_919) % 100_003}@shop.example.com`,
      quantity: 1 + (row % 9),
      amount: ((row * 31) % 100_000) / 100,
      createdAt,
    };
    if (newId !== undefined) order.id = newId();
    return order;
  });
}
