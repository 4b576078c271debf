import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { CodecName } from '@raindrop/core';
import { Transform, type TransformFnParams } from 'class-transformer';
import { IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import { IdFormat } from './id-format.js';

const MAX_COUNT = 10_000;

const COUNT = { message: `count must be an integer from 1 to ${MAX_COUNT}` };
const CODE = { message: 'code must be a text of 1 to 128 characters' };

/** The query of POST /v1/ids. */
export class NewIdsQuery {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_COUNT, default: 1 })
  // Not Number(): it would take '', ' 5 ', '1e3' and '0x10'.
  @Transform(({ value }: TransformFnParams) => (/^\d{1,9}$/.test(String(value)) ? Number(value) : NaN))
  @IsInt(COUNT)
  @Min(1, COUNT)
  @Max(MAX_COUNT, COUNT)
  readonly count: number = 1;

  @ApiPropertyOptional({ minLength: 1, maxLength: 128, description: 'A business kind with a sequence of its own.' })
  @IsOptional()
  @IsString(CODE)
  @Length(1, 128, CODE)
  readonly code?: string;

  @IdFormat()
  readonly format: CodecName = 'decimal';
}

/** The answer. */
export class NewIds {
  @ApiProperty({ type: [String], example: ['30094321512251392', '30094321512251394'] })
  readonly ids!: string[];
}
