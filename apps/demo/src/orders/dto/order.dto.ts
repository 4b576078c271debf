import { ApiSnowflake } from '@raindrop/nestjs/swagger';
import { CreateOrderItemDto } from './create-order.dto.js';

class OrderItemDto extends CreateOrderItemDto {
  @ApiSnowflake() id!: string;
}

export class OrderDto {
  @ApiSnowflake() id!: string;

  createdAt!: Date;

  /** @example 'Ada' */
  customer!: string;

  /** For a single order; pages omit them. */
  items?: OrderItemDto[];
}

export class OrdersPageDto {
  orders!: OrderDto[];

  @ApiSnowflake({ nullable: true, description: 'The `after` of the next page; null at the end.' })
  next!: string | null;
}
