import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsSnowflake } from '@raindrop/nestjs/class-validator';
import { ApiSnowflake } from '@raindrop/nestjs/swagger';
import { IsOptional } from 'class-validator';
import { IsMoment } from '../http/is-moment.js';
import { QueryInteger } from '../http/query-integer.js';
import { EXAMPLE_IDS } from '../ids/example-ids.js';
import { OrderView } from './order-view.js';

const LIMIT = { min: 1, max: 100, default: 20 };

/** The query of GET /v1/orders. */
export class OrdersQuery {
  @ApiSnowflake({ required: false, description: 'The `next` of the page before. Without it: the newest orders.' })
  @IsOptional()
  @IsSnowflake()
  readonly after?: string;

  @ApiPropertyOptional({
    example: '2026-11-21T08:00:00Z',
    description: 'Orders of this second or later. UTC unless it names a zone; a date alone is its first second.',
  })
  @IsOptional()
  @IsMoment()
  readonly from?: string;

  @ApiPropertyOptional({ example: '2026-11-21T08:59:59Z', description: 'Orders of this second or earlier; as `from`.' })
  @IsOptional()
  @IsMoment()
  readonly to?: string;

  @QueryInteger(LIMIT)
  readonly limit: number = LIMIT.default;
}

/** The answer. */
export class OrdersPage {
  @ApiProperty({ type: [OrderView] })
  readonly orders!: OrderView[];

  @ApiSnowflake({
    example: EXAMPLE_IDS[0],
    nullable: true,
    description: 'Goes into `after` to read on; null at the end. A page may be shorter than `limit` before that.',
  })
  readonly next!: string | null;
}
