import { ApiProperty } from '@nestjs/swagger';
import { IsSnowflake } from '@raindrop/nestjs/class-validator';
import { ApiSnowflake } from '@raindrop/nestjs/swagger';
import { IsOptional } from 'class-validator';
import { QueryInteger } from '../http/query-integer.js';
import { OrderView } from './order-view.js';

const LIMIT = { min: 1, max: 100, default: 20 };

/** The query of GET /v1/orders. */
export class OrdersQuery {
  @ApiSnowflake({ required: false, description: 'The `next` of the page before. Without it: the newest orders.' })
  @IsOptional()
  @IsSnowflake()
  readonly after?: string;

  @QueryInteger(LIMIT)
  readonly limit: number = LIMIT.default;
}

/** The answer. */
export class OrdersPage {
  @ApiProperty({ type: [OrderView] })
  readonly orders!: OrderView[];

  @ApiSnowflake({ nullable: true, description: 'Goes into `after` to read on; null at the end.' })
  readonly next!: string | null;
}
