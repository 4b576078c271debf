import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { Column, Entity, Index, JoinColumn, ManyToOne, OneToMany } from 'typeorm';

/** Says no more than it has to: when an order was made stands in its ID. */
@Entity('demo_order')
export class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 100 })
  customer!: string;

  @OneToMany(() => OrderItem, (item) => item.order, { cascade: ['insert'] })
  items!: OrderItem[];
}

/** In the order's file: each of the two names the other. */
@Entity('demo_order_item')
export class OrderItem {
  @GeneratedSnowflake()
  id!: string;

  @Index('demo_order_item_order')
  @ManyToOne(() => Order, (order) => order.items, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'order_id', foreignKeyConstraintName: 'demo_order_item_fk' })
  order!: Order;

  /** The same column, for lists of items: they need not have the orders joined to each. */
  @Column({ name: 'order_id', type: 'bigint' })
  orderId!: string;

  @Column({ type: 'varchar', length: 64 })
  sku!: string;

  @Column({ type: 'integer' })
  quantity!: number;
}
