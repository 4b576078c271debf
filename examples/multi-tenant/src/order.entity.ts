import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import type { TypedId } from '@raindrop/nestjs';
import { Column, Entity, Unique } from 'typeorm';

@Entity('orders')
@Unique(['tenant', 'reference'])
@Unique(['tenant', 'invoice'])
export class Order {
  /** `order_02E2ezHzPjk` in code and JSON, a bigint in the database; unique among all tenants. */
  @GeneratedSnowflake({ prefix: 'order' })
  id!: TypedId<'order'>;

  @Column()
  tenant!: string;

  /** An ID of the tenant's own code: unique for the tenant, and another tenant may have the same one. */
  @Column({ type: 'bigint' })
  reference!: string;

  /** Without a gap for each tenant, from 1 on every year. */
  @Column()
  invoice!: string;

  @Column()
  customer!: string;
}
