import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import { RaindropError, raindropProblem } from '@raindrop/nestjs';
import { isDatabaseAway } from '../database/is-database-away.js';
import { isDatabaseFull } from '../database/is-database-full.js';
import type { Problem } from './problem.js';
import { ProblemException, type ProblemTold } from './problem.exception.js';

const UNFORESEEN = 'Something is wrong here. The server log says what.';

/** A problem that has not been told to anybody yet. */
export type UntoldProblem = Omit<Problem, 'instance'>;

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
    ...{ status, detail, errorCode, retryable },
    ...fields,
  };
}

/** {@link problemOf} as it is told to somebody: with a name of this occurrence, which the log has, too. */
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
    const detail = 'The database has no room to write. Try again in a moment.';
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
