import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { RaindropError, raindropProblem, type ConfigurationProblem } from '@raindrop/nestjs';
import { isDatabaseAway, isDatabaseFull } from '../database/database-errors.js';

/** The media type of {@link Problem}. */
export const PROBLEM_JSON = 'application/problem+json';

/** The problem of one option. */
class OptionProblem implements ConfigurationProblem {
  @ApiProperty({ example: 'workIdLength' })
  readonly option!: string;

  @ApiProperty({ example: '2', description: 'The given value, shortened.' })
  readonly given!: string;

  @ApiProperty({ example: 'is out of range: must be an integer from 3 to 10' })
  readonly message!: string;
}

/** The form of every error: problem details as in RFC 9457. Further members are the error's own numbers. */
export class Problem {
  @ApiProperty({
    example: 'about:blank',
    description: "The error's documentation, if it exists and DOCS_URL is set; otherwise about:blank.",
  })
  readonly type!: string;

  @ApiProperty({ example: 'Bad Request', description: 'The meaning of the status.' })
  readonly title!: string;

  @ApiProperty({ example: 400, type: 'integer' })
  readonly status!: number;

  @ApiProperty({ example: 'count must be an integer from 1 to 10000' })
  readonly detail!: string;

  @ApiProperty({
    example: 'urn:uuid:1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed',
    format: 'uri',
    description: 'This occurrence, which the log also names.',
  })
  readonly instance!: string;

  @ApiProperty({ example: 'INVALID_INPUT', description: 'Stable: safe to branch on.' })
  readonly errorCode!: string;

  @ApiProperty({ example: false, description: 'Whether the same request can succeed later.' })
  readonly retryable!: boolean;

  @ApiPropertyOptional({ example: 12, description: 'For a 429: when to try again.' })
  readonly retryAfterSeconds?: number;

  @ApiPropertyOptional({
    type: () => [OptionProblem],
    description: 'For a layout that cannot be planned: every wrong option.',
  })
  readonly problems?: readonly OptionProblem[];
}

/** The public facts of an error, besides its status. */
interface ProblemTold {
  readonly errorCode: string;
  readonly detail: string;
  readonly retryable?: boolean;
  readonly [field: string]: unknown;
}

/** An error of the service's own; the filter makes a problem of it. The cause is what it retells, if anything. */
export class ProblemException extends HttpException {
  constructor(
    status: number,
    readonly told: ProblemTold,
    cause?: Error,
  ) {
    super(told.detail, status, { cause });
  }
}

const UNFORESEEN = 'An unexpected error occurred. The server log has details.';

/** A problem before the answer that tells it. */
type UntoldProblem = Omit<Problem, 'instance'>;

/**
 * Any error as problem details: 400 and 404 for what the client can mend, 503 for what passes by itself, else 500.
 *
 * Messages of the last two are not told: they may quote the database driver. Of Raindrop's errors the fields that are
 * numbers are, which cannot.
 *
 * @param docsUrl where Raindrop's errors are described; those of the service say no more than their status does
 */
export function problemOf(error: unknown, docsUrl?: string): UntoldProblem {
  const { status, errorCode, detail, retryable = false, ...fields } = toldOf(error);
  return {
    type: docsUrl !== undefined && isDescribed(error) ? `${docsUrl}#${errorCode.toLowerCase()}` : 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    errorCode,
    retryable,
    ...fields,
  };
}

/** {@link problemOf} for a client: with a name of this occurrence, which the log has, too. */
export function occurrenceOf(error: unknown, docsUrl?: string): Problem {
  const { type, title, status, detail, ...rest } = problemOf(error, docsUrl);
  return { type, title, status, detail, instance: `urn:uuid:${randomUUID()}`, ...rest };
}

/** Whether `docs/errors.md` has a heading for it. */
function isDescribed(error: unknown): boolean {
  return (error instanceof ProblemException ? error.cause : error) instanceof RaindropError;
}

function toldOf(error: unknown): ProblemTold & { readonly status: number } {
  if (error instanceof RaindropError) return { ...numbersOf(error), ...raindropTold(error) };
  if (error instanceof ProblemException) return { status: error.getStatus(), ...error.told };
  if (error instanceof HttpException && error.getStatus() < 500) {
    return { status: error.getStatus(), errorCode: codeOf(error.getStatus()), detail: error.message };
  }
  if (isDatabaseAway(error)) {
    const detail = 'The database does not answer. Try again in a moment.';
    return { status: 503, errorCode: 'DATABASE_UNAVAILABLE', detail, retryable: true };
  }
  if (isDatabaseFull(error)) {
    const detail = 'The database has no space left. Try again in a moment.';
    return { status: 503, errorCode: 'DATABASE_UNAVAILABLE', detail, retryable: true };
  }
  return { status: 500, errorCode: codeOf(500), detail: UNFORESEEN };
}

function raindropTold(error: RaindropError): ProblemTold & { readonly status: number } {
  const { errorCode, retryable } = error;
  const { status, detail } = raindropProblem(error) ?? { status: 500, detail: UNFORESEEN };
  return { status, errorCode, detail, retryable };
}

function numbersOf(error: RaindropError): Record<string, number> {
  const own = Object.entries(error) as [string, unknown][];
  return Object.fromEntries(own.filter((entry): entry is [string, number] => Number.isFinite(entry[1])));
}

/** `Not Found` is NOT_FOUND. */
function codeOf(status: number): string {
  return (STATUS_CODES[status] ?? 'ERROR').toUpperCase().replace(/\W+/g, '_');
}
