import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { RaindropError } from '@raindrop/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PROBLEM_JSON } from './problem.js';
import { problemOf } from './problem-of.js';

const RETRY_AFTER_SECONDS = '1';

/** Answers every error with problem details. What is not the client's fault goes to the log, with the driver's words. */
@Catch()
export class ProblemFilter implements ExceptionFilter<unknown> {
  private readonly logger = new Logger('Demo');

  constructor(private readonly docsUrl?: string) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** Also for what goes wrong before Nest is asked. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const problem = problemOf(error, this.docsUrl);
    if (problem.status >= 500) this.log(error, problem.errorCode, request);
    // The head of a stream is gone: what can be said has been said in it.
    if (reply.sent) return;
    if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
    if (problem.status === 503) void reply.header('retry-after', RETRY_AFTER_SECONDS);
    void reply.code(problem.status).header('content-type', PROBLEM_JSON).send(JSON.stringify(problem));
  }

  private log(error: unknown, errorCode: string, { method, routeOptions }: FastifyRequest): void {
    const where = `${method} ${routeOptions?.url ?? 'of no route'}`;
    const message = error instanceof Error ? error.message : String(error);
    const stack = error instanceof Error && !(error instanceof RaindropError) ? error.stack : undefined;
    this.logger.error(`${errorCode} at ${where}: ${message}`, ...(stack === undefined ? [] : [stack]));
  }
}
