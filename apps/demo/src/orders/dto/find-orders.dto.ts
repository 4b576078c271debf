import { IsSnowflake } from '@raindrop/nestjs/class-validator';
import { ApiSnowflake } from '@raindrop/nestjs/swagger';
import { Type } from 'class-transformer';
import { IsDate, IsInt, IsOptional, Max, Min } from 'class-validator';

export class FindOrdersDto {
  @ApiSnowflake({ required: false, description: 'The `next` of the page before.' })
  @IsOptional()
  @IsSnowflake()
  after?: string;

  /** Orders of this second or later. */
  @IsOptional() @Type(() => Date) @IsDate() from?: Date;

  /** Orders of this second or earlier. */
  @IsOptional() @Type(() => Date) @IsDate() to?: Date;

  /** Orders of a page, 20 by default. */
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;
}
