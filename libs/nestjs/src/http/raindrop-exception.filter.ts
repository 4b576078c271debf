import { STATUS_CODES } from 'node:http';
import { type ArgumentsHost, Catch, Logger } from '@nestjs/common';
import { type AbstractHttpAdapter, BaseExceptionFilter } from '@nestjs/core';
import {
  InvalidBatchError,
  InvalidCodeError,
  InvalidIdError,
  RaindropError,
  SequenceExhaustedError,
  ShortIdRepeatError,
} from '@raindrop/core';
import { UnknownAppError } from '@raindrop/node';
import { monotonicClock } from '@raindrop/node/internal';
import { wallClock } from '@raindrop/core/internal';

/** The problem details (RFC 9457) of an error about which a client can do something. */
export interface RaindropProblem {
  /** As RFC 9457 asks for a problem that needs no page of its own: status and code say it all. */
  readonly type: 'about:blank';
  /** The name of the status, such as `Bad Request`. */
  readonly title: string;
  /** 400 and 404 for a value that the client sent, 503 for an error that passes by itself. */
  readonly status: 400 | 404 | 503;
  /**
   * The error's message for 400 and 404; for 503 a general sentence, because the message may quote a database driver.
   */
  readonly detail: string;
  /** The error's code; it stays the same across releases. */
  readonly errorCode: string;
  /** Whether the same request can succeed later. */
  readonly retryable: boolean;
}

/**
 * Returns what a client is told of an error; undefined when the client can do nothing about it: then answer with a 500.
 * INVALID_ID, INVALID_BATCH and INVALID_CODE are 400, UNKNOWN_APP is 404, every retryable error is 503.
 */
export function raindropProblem(error: RaindropError): RaindropProblem | undefined {
  const status = statusOf(error);
  if (status === undefined) return undefined;
  const { message, errorCode, retryable } = error;
  const detail = status === 503 ? 'No ID can be issued right now. Try again in a moment.' : message;
  return { type: 'about:blank', title: STATUS_CODES[status]!, status, detail, errorCode, retryable };
}

function statusOf(error: RaindropError): RaindropProblem['status'] | undefined {
  if (error instanceof InvalidIdError || error instanceof InvalidBatchError || error instanceof InvalidCodeError) {
    return 400;
  }
  if (error instanceof UnknownAppError) return 404;
  return error.retryable ? 503 : undefined;
}

/** The whole seconds of `Retry-After`: the wait that the error names, at least 1. */
function retryAfterSeconds(error: RaindropError, nowMs: number): number {
  return Math.max(Math.ceil((waitMsOf(error, nowMs) ?? 0) / 1000), 1);
}

function waitMsOf(error: RaindropError, nowMs: number): number | undefined {
  // RemoteIdsRefusedError has it. Its class is not imported: only services with a remote source load it.
  if ('retryAfterMs' in error && typeof error.retryAfterMs === 'number') return error.retryAfterMs;
  if (error instanceof ShortIdRepeatError) return error.blockedMs;
  return error instanceof SequenceExhaustedError ? error.availableAt.getTime() - nowMs : undefined;
}

const PROBLEM_JSON = 'application/problem+json; charset=utf-8';

/** In an outage every request fails in the same way: each code is logged once in this time, ms. */
const LOG_EVERY_MS = 10_000;

/**
 * Answers Raindrop's errors over HTTP with the problem details (RFC 9457) of {@link raindropProblem}: 400 for a value
 * that is no ID, 503 with `Retry-After` for an error that passes by itself. Register it once:
 *
 *     providers: [{ provide: APP_FILTER, useClass: RaindropExceptionFilter }]
 *
 * Other errors go on to Nest's own handling, and so does every error of a GraphQL resolver or a message handler. A 503
 * is logged at most once in ten seconds for each code; Nest logs a 500.
 */
@Catch(RaindropError)
export class RaindropExceptionFilter extends BaseExceptionFilter<RaindropError> {
  private readonly log = new Logger(RaindropExceptionFilter.name);
  private readonly loggedAt = new Map<string, number>();

  /** Answers, or returns undefined to let Nest go on. */
  override catch(error: RaindropError, host: ArgumentsHost): void {
    const type = host.getType<string>();
    if (type === 'ws') return this.tellClient(error, host);
    // Nest goes on when a filter returns nothing.
    if (type !== 'http') return;
    const adapter = (this.applicationRef ?? this.httpAdapterHost?.httpAdapter) as AbstractHttpAdapter;
    const response: unknown = host.getArgByIndex(1);
    const problem = raindropProblem(error);
    // What was begun cannot be answered otherwise: Nest ends it.
    if (problem === undefined || adapter.isHeadersSent(response)) return super.catch(error, host);
    if (problem.status === 503) {
      this.logOnce(error);
      adapter.setHeader(response, 'Retry-After', String(retryAfterSeconds(error, wallClock.now())));
    }
    adapter.setHeader(response, 'Content-Type', PROBLEM_JSON);
    adapter.reply(response, JSON.stringify(problem), problem.status);
  }

  /** Nest takes it that a filter of a gateway has told the client. */
  private tellClient(error: RaindropError, host: ArgumentsHost): void {
    const { detail, errorCode, retryable } = raindropProblem(error) ?? { detail: 'Internal server error' };
    if (errorCode === undefined) this.log.error(error.message, error.stack);
    const client = host.switchToWs().getClient<{ emit?: (event: string, told: object) => void }>();
    client.emit?.('exception', { status: 'error', message: detail, errorCode, retryable });
  }

  private logOnce({ errorCode, message }: RaindropError): void {
    const nowMs = monotonicClock.now();
    if (nowMs - (this.loggedAt.get(errorCode) ?? -LOG_EVERY_MS) < LOG_EVERY_MS) return;
    this.loggedAt.set(errorCode, nowMs);
    this.log.warn(`${errorCode}, answered with 503: ${message}`);
  }
}
