import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsObject,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';

/** Anything but control characters (PostgreSQL stores no NUL) and halves of characters. */
const TEXT = { customer: /^[^\p{Cc}\p{Cs}]{1,100}$/u, sku: /^[^\p{Cc}\p{Cs}]{1,64}$/u };

const QUANTITY = { message: 'quantity must be an integer from 1 to 10000' };

/** Of one order. */
export const MOST_ITEMS = 100;

const ITEMS = { message: `items must be a list of 1 to ${MOST_ITEMS} objects { sku, quantity }` };

export class NewOrderItem {
  @ApiProperty({ example: 'tea-250g', minLength: 1, maxLength: 64 })
  @Matches(TEXT.sku, { message: 'sku must be a text of 1 to 64 characters, without control characters' })
  readonly sku!: string;

  @ApiProperty({ example: 2, minimum: 1, maximum: 10_000, type: 'integer' })
  @IsInt(QUANTITY)
  @Min(1, QUANTITY)
  @Max(10_000, QUANTITY)
  readonly quantity!: number;
}

/** The body of POST /v1/orders. */
export class NewOrder {
  @ApiProperty({ example: 'Ada', minLength: 1, maxLength: 100 })
  @Matches(TEXT.customer, { message: 'customer must be a text of 1 to 100 characters, without control characters' })
  readonly customer!: string;

  @ApiProperty({ type: [NewOrderItem], minItems: 1, maxItems: MOST_ITEMS })
  @IsArray(ITEMS)
  @ArrayMinSize(1, ITEMS)
  @ArrayMaxSize(MOST_ITEMS, ITEMS)
  @IsObject({ ...ITEMS, each: true })
  @ValidateNested({ each: true })
  @Type(() => NewOrderItem)
  readonly items!: NewOrderItem[];
}
