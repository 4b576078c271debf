import { ApiProperty } from '@nestjs/swagger';
import { compareIds, type ParsedId } from '@raindrop/nestjs';
import { ApiSnowflake } from '@raindrop/nestjs/swagger';
import { EXAMPLE, EXAMPLE_IDS } from '../ids/example-ids.js';
import type { Order } from '../database/order.entity.js';

export class OrderItemView {
  @ApiSnowflake({ example: EXAMPLE_IDS[1] })
  readonly id!: string;

  @ApiProperty({ example: 'tea-250g' })
  readonly sku!: string;

  @ApiProperty({ example: 2 })
  readonly quantity!: number;
}

/** An order as clients see it. */
export class OrderView {
  @ApiSnowflake({ example: EXAMPLE_IDS[1] })
  readonly id!: string;

  @ApiProperty({ example: EXAMPLE.time.toISOString(), description: 'The second that stands in the ID.' })
  readonly createdAt!: string;

  @ApiProperty({ example: 'Ada' })
  readonly customer!: string;

  @ApiProperty({ type: [OrderItemView] })
  readonly items!: OrderItemView[];
}

/** @param parsed what the order's ID says */
export function viewOrder({ id, customer, items }: Order, parsed: ParsedId): OrderView {
  return {
    id,
    createdAt: parsed.time.toISOString(),
    customer,
    items: [...items]
      .sort((a, b) => compareIds(a.id, b.id))
      .map((item) => ({ id: item.id, sku: item.sku, quantity: item.quantity })),
  };
}
