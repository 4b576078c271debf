import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsSnowflake } from '@raindrop/nestjs/class-validator';
import { ApiSnowflake } from '@raindrop/nestjs/swagger';
import { IsISO8601, IsOptional } from 'class-validator';
import { QueryInteger } from '../http/query-integer.js';
import { OrderView } from './order-view.js';

const MOMENT = { message: '$property must be an ISO 8601 date or time, such as 2026-11-21T08:15:30Z' };
const LIMIT = { min: 1, max: 100, default: 20 };

/** The query of GET /v1/orders. */
export class OrdersQuery {
  @ApiSnowflake({ required: false, description: 'The `next` of the page before. Without it: the newest orders.' })
  @IsOptional()
  @IsSnowflake()
  readonly after?: string;

  @ApiPropertyOptional({ example: '2026-11-21T08:00:00Z', description: 'Orders of this second or later.' })
  @IsOptional()
  @IsISO8601({ strict: true }, MOMENT)
  readonly from?: string;

  @ApiPropertyOptional({ example: '2026-11-21T08:59:59Z', description: 'Orders of this second or earlier.' })
  @IsOptional()
  @IsISO8601({ strict: true }, MOMENT)
  readonly to?: string;

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
