import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ConfigurationProblem } from '@raindrop/nestjs';

/** The media type of {@link Problem}. */
export const PROBLEM_JSON = 'application/problem+json';

/** What is wrong with one option. */
export class OptionProblem implements ConfigurationProblem {
  @ApiProperty({ example: 'workIdLength' })
  readonly option!: string;

  @ApiProperty({ example: '2', description: 'What was given, shortened.' })
  readonly given!: string;

  @ApiProperty({ example: 'is out of range: must be an integer from 3 to 10' })
  readonly message!: string;
}

/** What every error looks like: problem details as in RFC 9457. Further members are the error's own numbers. */
export class Problem {
  @ApiProperty({
    example: 'about:blank',
    description: 'Where the error is described, if it is and the service was told DOCS_URL; else about:blank.',
  })
  readonly type!: string;

  @ApiProperty({ example: 'Bad Request', description: 'What the status means.' })
  readonly title!: string;

  @ApiProperty({ example: 400, type: 'integer' })
  readonly status!: number;

  @ApiProperty({ example: 'count must be an integer from 1 to 10000' })
  readonly detail!: string;

  @ApiProperty({
    example: 'urn:uuid:1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed',
    format: 'uri',
    description: 'This one occurrence; the log names it as well.',
  })
  readonly instance!: string;

  @ApiProperty({ example: 'INVALID_INPUT', description: 'Stable: safe to branch on.' })
  readonly errorCode!: string;

  @ApiProperty({ example: false, description: 'Whether the same request can succeed later.' })
  readonly retryable!: boolean;

  @ApiPropertyOptional({ example: 12, description: 'Of a 429: when to come again.' })
  readonly retryAfterSeconds?: number;

  @ApiPropertyOptional({
    type: () => [OptionProblem],
    description: 'Of a layout that cannot be planned: every option that is wrong.',
  })
  readonly problems?: readonly OptionProblem[];
}
