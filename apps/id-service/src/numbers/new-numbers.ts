import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { QueryInteger } from '../http/inputs.js';
import { NUMBER_CODES, type NumberCode } from './number-codes.js';

const COUNT = { min: 1, max: 10_000, default: 1 };

/** The path of POST /v1/numbers/:code. */
export class NumbersPath {
  @ApiProperty({ enum: NUMBER_CODES, example: 'invoice', description: 'What is counted.' })
  @IsIn(NUMBER_CODES, { message: `code must be one of ${NUMBER_CODES.join(', ')}` })
  readonly code!: NumberCode;
}

/** Its query. */
export class NumbersQuery {
  @QueryInteger(COUNT)
  readonly count: number = COUNT.default;
}

/** The answer. */
export class NewNumbers {
  @ApiProperty({ type: [String], example: ['1', '2'] })
  readonly numbers!: string[];
}
