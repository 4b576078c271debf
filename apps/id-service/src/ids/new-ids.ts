import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { CodecName } from '@raindrop/nestjs';
import { IsOptional, IsString, Length } from 'class-validator';
import { QueryInteger } from '../http/inputs.js';
import { EXAMPLE_IDS } from './example-ids.js';
import { IdFormat } from './id-format.js';

const COUNT = { min: 1, max: 10_000, default: 1 };
const STREAM_COUNT = { min: 1, max: 10_000_000, default: 10_000 };
const CODE = { message: 'code must be a text of 1 to 128 characters' };

/** The query of POST /v1/ids. */
export class NewIdsQuery {
  @QueryInteger(COUNT)
  readonly count: number = COUNT.default;

  @IdCode()
  readonly code?: string;

  @IdFormat()
  readonly format: CodecName = 'decimal';
}

/** The answer. */
export class NewIds {
  @ApiProperty({ type: [String], example: EXAMPLE_IDS })
  readonly ids!: string[];
}

/** The query of POST /v1/ids/stream. */
export class IdStreamQuery {
  @QueryInteger(STREAM_COUNT)
  readonly count: number = STREAM_COUNT.default;

  @IdCode()
  readonly code?: string;

  @IdFormat()
  readonly format: CodecName = 'decimal';
}

function IdCode(): PropertyDecorator {
  const decorators = [
    ApiPropertyOptional({
      example: 'order',
      minLength: 1,
      maxLength: 128,
      description: 'A business kind with a sequence of its own.',
    }),
    IsOptional(),
    IsString(CODE),
    Length(1, 128, CODE),
  ];
  return (target, property) => {
    for (const decorate of decorators) decorate(target, property);
  };
}
