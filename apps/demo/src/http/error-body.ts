import { ApiProperty } from '@nestjs/swagger';

/** What every error of ours looks like. */
export class ErrorBody {
  @ApiProperty({ example: 400 })
  readonly statusCode!: number;

  @ApiProperty({ example: 'INVALID_INPUT', description: 'Stable: safe to branch on.' })
  readonly errorCode!: string;

  @ApiProperty({ example: 'count must be an integer from 1 to 10000' })
  readonly message!: string;
}
