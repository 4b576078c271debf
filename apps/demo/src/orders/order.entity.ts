import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { Column, Entity, OneToMany } from 'typeorm';
import { OrderItem } from './order-item.entity.js';

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
