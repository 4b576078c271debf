import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { CodecName } from '@raindrop/core';
import { IsOptional, IsString, Length } from 'class-validator';
import { QueryInteger } from '../http/query-integer.js';
import { IdFormat } from './id-format.js';

const COUNT = { min: 1, max: 10_000, default: 1 };
const CODE = { message: 'code must be a text of 1 to 128 characters' };

/** The query of POST /v1/ids. */
export class NewIdsQuery {
  @QueryInteger(COUNT)
  readonly count: number = COUNT.default;

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
