import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { Column, Entity, Index, JoinColumn, ManyToOne, OneToMany } from 'typeorm';

/** Without a column for the time of the order: it stands in the ID. */
@Entity('orders')
export class Order {
  @GeneratedSnowflake() id!: string;
  @Column({ length: 100 }) customer!: string;

  @OneToMany(() => OrderItem, (item) => item.order, { cascade: ['insert'] })
  items!: OrderItem[];
}

@Entity('order_items')
export class OrderItem {
  @GeneratedSnowflake() id!: string;
  @Column({ length: 64 }) sku!: string;
  @Column() quantity!: number;

  @Index('order_items_order_id')
  @ManyToOne(() => Order, (order) => order.items, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ foreignKeyConstraintName: 'order_items_order' })
  order!: Order;
}
