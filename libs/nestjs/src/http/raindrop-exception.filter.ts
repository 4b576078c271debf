import { Catch, Logger, type ArgumentsHost } from '@nestjs/common';
import { BaseExceptionFilter, type AbstractHttpAdapter } from '@nestjs/core';
import { RaindropError } from '@raindrop/core';
import { monotonicClock } from '@raindrop/node/internal';
import { wallClock } from '@raindrop/core/internal';
import { raindropProblem, retryAfterSeconds } from './raindrop-problem.js';

const PROBLEM_JSON = 'application/problem+json; charset=utf-8';

/** In an outage every request is refused in the same way: the log says so as often as this, for each code. */
const LOG_EVERY_MS = 10_000;

/**
 * Answers errors of Raindrop's over HTTP with problem details (RFC 9457) where {@link raindropProblem} knows any: 400
 * for what is no ID, 503 with `Retry-After` for what passes by itself. Register it once:
 *
 *     providers: [{ provide: APP_FILTER, useClass: RaindropExceptionFilter }]
 *
 * Everything else goes on to Nest's own handling, and so does every error of a GraphQL resolver or a message handler.
 * A 503 is logged at most once in ten seconds for each code; Nest logs a 500.
 */
@Catch(RaindropError)
export class RaindropExceptionFilter extends BaseExceptionFilter<RaindropError> {
  private readonly log = new Logger(RaindropExceptionFilter.name);
  private readonly loggedAt = new Map<string, number>();

  /** Answers, or returns undefined to let Nest go on. */
  override catch(error: RaindropError, host: ArgumentsHost): void {
    const type = host.getType<string>();
    if (type === 'ws') return this.tellClient(error, host);
    // A filter that returns nothing has handled nothing.
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
