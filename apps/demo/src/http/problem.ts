import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** The media type of {@link Problem}. */
export const PROBLEM_JSON = 'application/problem+json';

/** What every error looks like: problem details as in RFC 9457. Further members are the error's own numbers. */
export class Problem {
  @ApiProperty({
    example: 'about:blank',
    description: 'Where the error is described, when the service was told DOCS_URL; else about:blank.',
  })
  readonly type!: string;

  @ApiProperty({ example: 'Bad Request', description: 'What the status means.' })
  readonly title!: string;

  @ApiProperty({ example: 400, type: 'integer' })
  readonly status!: number;

  @ApiProperty({ example: 'count must be an integer from 1 to 10000' })
  readonly detail!: string;

  @ApiProperty({ example: 'INVALID_INPUT', description: 'Stable: safe to branch on.' })
  readonly errorCode!: string;

  @ApiProperty({ example: false, description: 'Whether the same request can succeed later.' })
  readonly retryable!: boolean;

  @ApiPropertyOptional({
    description: 'Of a layout that cannot be planned: every option that is wrong.',
    example: [{ option: 'workIdLength', given: '2', message: 'is out of range: must be an integer from 3 to 10' }],
    type: 'array',
    items: { type: 'object' },
  })
  readonly problems?: readonly object[];
}
