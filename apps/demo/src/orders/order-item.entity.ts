import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { Column, Entity, Index, JoinColumn, ManyToOne, type Relation } from 'typeorm';
import { Order } from './order.entity.js';

@Entity('demo_order_item')
export class OrderItem {
  @GeneratedSnowflake()
  id!: string;

  @Index('demo_order_item_order')
  @ManyToOne(() => Order, (order) => order.items, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'order_id', foreignKeyConstraintName: 'demo_order_item_fk' })
  order!: Relation<Order>;

  @Column({ type: 'varchar', length: 64 })
  sku!: string;

  @Column({ type: 'integer' })
  quantity!: number;
}
