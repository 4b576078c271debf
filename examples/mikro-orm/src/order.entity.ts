import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { SnowflakePrimaryKey } from '@raindrop/orm/mikro-orm';

@Entity({ tableName: 'orders' })
export class Order {
  /** From the service that RaindropModule opens. */
  @SnowflakePrimaryKey()
  id!: string;

  @Property({ type: 'string', unique: true })
  reference!: string;

  @Property({ type: 'string' })
  customer!: string;
}
