import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsInt, IsObject, Length, Max, Min, ValidateNested } from 'class-validator';

export class CreateOrderItemDto {
  /** @example 'tea-250g' */
  @Length(1, 64) sku!: string;

  /** @example 2 */
  @IsInt()
  @Min(1)
  @Max(10_000)
  quantity!: number;
}

export class CreateOrderDto {
  /** @example 'Ada' */
  @Length(1, 100) customer!: string;

  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => CreateOrderItemDto)
  items!: CreateOrderItemDto[];
}
